import { loadPeer } from '../harness/peers.ts'
import type { Contender, Job, Source, Worker, WorkTerms } from './contender.ts'

interface Package {
  Queue: new (name: string, options: { connection: Connection }) => Queue
  Worker: new (name: string, handler: Handler | null, options: WorkerOptions) => PackageWorker
}

type Handler = (job: PackageJob) => Promise<unknown>

interface Connection {
  readonly host: string
  readonly port: number
  readonly maxRetriesPerRequest: null
  readonly enableAutoPipelining?: boolean
}

interface WorkerOptions {
  readonly connection: Connection
  readonly autorun: false
  readonly concurrency?: number
  readonly removeOnComplete: { count: 0 }
}

interface JobOptions {
  readonly attempts?: number
  readonly priority?: number
}

interface Queue {
  waitUntilReady(): Promise<unknown>
  add(name: string, data: string, options?: JobOptions): Promise<unknown>
  addBulk(jobs: { name: string; data: string; opts?: JobOptions }[]): Promise<unknown>
  close(): Promise<void>
}

interface PackageWorker {
  waitUntilReady(): Promise<unknown>
  on(event: 'completed', listener: () => void): unknown
  run(): Promise<void>
  getNextJob(token: string, options: { block: false }): Promise<PackageJob | undefined>
  close(): Promise<void>
}

interface PackageJob {
  readonly data: string
  moveToCompleted(result: unknown, token: string, fetchNext: false): Promise<unknown>
}

const PEER = 'bullmq'
const NAME = 'job'
const TOKEN = 'bench'

export const bullmq: Contender = {
  name: 'BullMQ',
  peer: PEER,
  settings:
    'ioredis 6, maxRetriesPerRequest null; finished jobs removed (removeOnComplete of the worker); everything ' +
    'else as by default',
  heeds: ['attempts', 'priority'],
  async connect(port: number, name: string): Promise<Source> {
    const peer = loadPeer<Package>(PEER)
    const connection: Connection = { host: '127.0.0.1', port, maxRetriesPerRequest: null }
    const queue = new peer.Queue(name, { connection })
    await queue.waitUntilReady()
    const open = async (handler: Handler | null, concurrency = 1): Promise<PackageWorker> => {
      const kept = { autorun: false, removeOnComplete: { count: 0 } } as const
      const worker = new peer.Worker(name, handler, { connection, concurrency, ...kept })
      await worker.waitUntilReady()
      return worker
    }
    const popper = await open(null)
    return {
      sends: ['bzpopmin'],
      add: (job) => queue.add(NAME, job.payload, toOptions(job)),
      addBulk: (jobs) =>
        queue.addBulk(jobs.map((job) => ({ name: NAME, data: job.payload, opts: toOptions(job) }))),
      work: (terms) => work(open, terms),
      pop: () => pop(popper),
      close: async () => void (await Promise.all([popper.close(), queue.close()])),
    }
  },
}

/** Its guide is silent about auto-pipelining, which slows what waits for each answer; so it only adds here. */
export const bullmqPipelined: Contender = {
  name: 'BullMQ, auto-pipelining',
  peer: PEER,
  settings: 'enableAutoPipelining of ioredis, for adds alone',
  heeds: [],
  async connect(port: number, name: string): Promise<Source> {
    const peer = loadPeer<Package>(PEER)
    const connection = { host: '127.0.0.1', port, maxRetriesPerRequest: null, enableAutoPipelining: true }
    const queue = new peer.Queue(name, { connection })
    await queue.waitUntilReady()
    return { sends: [], add: ({ payload }) => queue.add(NAME, payload), close: () => queue.close() }
  },
}

/** As its guide has it: no priority at all for jobs that are all alike. */
function toOptions({ attempts, priority }: Job): JobOptions {
  return { ...(attempts && { attempts }), ...(priority && { priority }) }
}

type Open = (handler: Handler, concurrency: number) => Promise<PackageWorker>

async function work(open: Open, { concurrency, handle, done }: WorkTerms): Promise<Worker> {
  const worker = await open((job) => handle(job.data), concurrency)
  worker.on('completed', done)
  return { start: () => void worker.run(), close: () => worker.close() }
}

/** "Manually processing jobs" of its guide. */
async function pop(popper: PackageWorker): Promise<() => Promise<unknown>> {
  const job = await popper.getNextJob(TOKEN, { block: false })
  if (job === undefined) throw new Error('no job waits')
  return () => job.moveToCompleted(null, TOKEN, false)
}
