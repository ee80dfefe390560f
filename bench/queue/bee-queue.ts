import { loadPeer } from '../harness/peers.ts'
import type { Contender, Job, Source, Worker, WorkTerms } from './contender.ts'

type Package = new (name: string, settings: Settings) => Queue

interface Settings {
  readonly redis: { host: string; port: number }
  readonly isWorker: boolean
  readonly getEvents: boolean
  readonly sendEvents: boolean
  readonly storeJobs: boolean
  readonly removeOnSuccess: boolean
}

interface Queue {
  ready(): Promise<unknown>
  createJob(data: string): PackageJob
  saveAll(jobs: readonly PackageJob[]): Promise<ReadonlyMap<unknown, Error>>
  process(concurrency: number, handler: (job: { data: string }) => Promise<unknown>): unknown
  on(event: 'succeeded', listener: () => void): unknown
  close(giveUpMs: number): Promise<unknown>
}

interface PackageJob {
  retries(count: number): PackageJob
  save(): Promise<unknown>
}

const PEER = 'bee-queue'
/** By default a close throws after five seconds. */
const GIVE_UP_MS = 60_000

export const beeQueue: Contender = {
  name: PEER,
  peer: PEER,
  settings:
    'getEvents, sendEvents, storeJobs off; isWorker off where jobs are added; removeOnSuccess on; bulk by ' +
    'saveAll; everything else as by default',
  heeds: ['attempts'],
  async connect(port: number, name: string): Promise<Source> {
    const open = (isWorker: boolean): Promise<Queue> => openQueue(port, name, isWorker)
    const queue = await open(false)
    return {
      sends: ['brpoplpush', 'hget', 'srem', 'multi', 'lrem', 'hdel'],
      add: (job) => toPackageJob(queue, job).save(),
      addBulk: (jobs) => saveAll(queue, jobs),
      work: (terms) => work(open, terms),
      close: async () => void (await queue.close(GIVE_UP_MS)),
    }
  },
}

async function openQueue(port: number, name: string, isWorker: boolean): Promise<Queue> {
  const quiet = { getEvents: false, sendEvents: false, storeJobs: false, removeOnSuccess: true }
  const BeeQueue = loadPeer<Package>(PEER)
  const queue = new BeeQueue(name, { redis: { host: '127.0.0.1', port }, isWorker, ...quiet })
  await queue.ready()
  return queue
}

function toPackageJob(queue: Queue, { payload, attempts = 1 }: Job): PackageJob {
  const job = queue.createJob(payload)
  return attempts > 1 ? job.retries(attempts - 1) : job
}

async function saveAll(queue: Queue, jobs: readonly Job[]): Promise<void> {
  const errors = await queue.saveAll(jobs.map((job) => toPackageJob(queue, job)))
  for (const error of errors.values()) throw error
}

type Open = (isWorker: boolean) => Promise<Queue>

async function work(open: Open, { concurrency, handle, done }: WorkTerms): Promise<Worker> {
  const queue = await open(true)
  queue.on('succeeded', done)
  return {
    start: () => void queue.process(concurrency, ({ data }) => handle(data)),
    close: async () => void (await queue.close(GIVE_UP_MS)),
  }
}
