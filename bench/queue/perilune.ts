// Ours, as it is shipped.

import { Redis } from 'ioredis'
import { builtLibrary } from '../harness/built.ts'
import { type Contender, type Job, PERILUNE, type Source, type Worker, type WorkTerms } from './contender.ts'

type Jobs = { job: string }
type Built = Awaited<ReturnType<typeof builtLibrary>>
type Queue = ReturnType<ReturnType<Built['perilune']>['queue']>

const NAME = 'job'
const MOST_URGENT = 10

export const perilune: Contender = {
  name: PERILUNE,
  settings: 'as by default; finished jobs are removed',
  heeds: ['attempts', 'priority', 'group'],
  async connect(port: number, name: string): Promise<Source> {
    const built = await builtLibrary()
    const client = new Redis({ port })
    const redis = built.perilune(built.ioredis(client))
    const queue = redis.queue<Jobs>(name)
    await redis.preload()
    let held: Awaited<ReturnType<typeof queue.claim>> = []
    return {
      sends: [],
      add: (job) => queue.enqueue(NAME, job.payload, toOptions(job)),
      addBulk: (jobs) =>
        queue.enqueueMany(jobs.map((job) => ({ name: NAME, payload: job.payload, ...toOptions(job) }))),
      work: async (terms) => work(queue as unknown as Queue, terms),
      pop: async () => {
        const [job] = await queue.claim()
        if (job === undefined) throw new Error('no job waits')
        return () => job.ack()
      },
      popNext: async () => {
        held = await queue.claim({ acks: held })
        if (held.length === 0) throw new Error('no job waits')
      },
      close: async () => {
        await redis.close()
        client.disconnect()
      },
    }
  },
}

function toOptions({ attempts, priority, group }: Job) {
  if (attempts === undefined && priority === undefined && group === undefined) return undefined
  return {
    ...(attempts && { maxAttempts: attempts, backoff: 'none' as const }),
    ...(priority && { priority: MOST_URGENT + 1 - priority }),
    ...(group && { group }),
  }
}

function work(queue: Queue, { concurrency, handle, done }: WorkTerms): Worker {
  let worker: ReturnType<Queue['work']> | null = null
  const start = (): void => {
    const onSettled = (job: { outcome: string | null }): void => {
      if (job.outcome === 'acked') done()
    }
    worker = queue.work((job) => handle(job.payload), { concurrency, onSettled })
  }
  return { start, close: async () => worker?.close({ within: '0ms' }) }
}
