// Works on as many jobs as one call takes, of all kinds.

import type { NewJob, Queue } from 'perilune'
import { KINDS } from '../queue/kinds.ts'
import type { CostWork } from './cost-work.ts'

type Jobs = Record<string, number>

const AT_ONCE = 1000
const DEPENDENCIES = 100

const jobsOf = (kind: string, from: number, count: number, dependencies: readonly string[]): NewJob<Jobs>[] =>
  Array.from({ length: count }, (_, at) => ({
    name: 'job',
    payload: at,
    ...KINDS[kind]?.(from + at, dependencies),
  }))

/** The size is how many jobs of the kind wait already. */
function many(
  kind: string,
  what: string,
  call: (queue: Queue<Jobs>, ids: string[], more: NewJob<Jobs>[]) => Promise<unknown>,
): CostWork {
  const prepare: CostWork['prepare'] = async ({ redis, name }, size) => {
    const queue = redis.queue<Jobs>(name)
    const dependencies = Array.from({ length: DEPENDENCIES }, (_, at) => ({
      name: 'dependency',
      payload: at,
      id: `dependency ${at}`,
    }))
    const ids = (await queue.enqueueMany(dependencies)).map(({ id }) => id)
    const waiting: string[] = []
    for (let from = 0; from < size; from += AT_ONCE) {
      const jobs = jobsOf(kind, from, Math.min(AT_ONCE, size - from), ids)
      const enqueued = await queue.enqueueMany(jobs)
      if (waiting.length < AT_ONCE) waiting.push(...enqueued.map(({ id }) => id))
    }
    return () => call(queue, waiting.slice(0, AT_ONCE), jobsOf(kind, size, AT_ONCE, ids))
  }
  return { structure: 'queue', what: `${what} with ${kind}`, prepare }
}

export const manyWorks: readonly CostWork[] = Object.keys(KINDS).flatMap((kind) => [
  many(kind, 'a thousand more', (queue, _ids, more) => queue.enqueueMany(more)),
  many(kind, 'a cancellation of a thousand', (queue, ids) => queue.jobs.cancel(ids)),
  many(kind, 'a requeue of a thousand', (queue, ids) => queue.jobs.requeue(ids)),
  many(kind, 'another priority for a thousand', (queue, ids) => queue.jobs.reprioritize(ids, 7)),
])
