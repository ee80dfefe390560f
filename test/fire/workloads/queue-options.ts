// Jobs with groups, priorities, delays, tags and idempotency keys, some of whose attempts fail, in a queue that keeps
// some.

import { setTimeout as sleep } from 'node:timers/promises'
import { between, oneOf } from '../cell.ts'
import { type AnyQueue, type Jobs, type Kind, workload } from './queue.ts'
import type { Site, Workload } from './workload.ts'

/** This group has a limit of one job at once. */
export const SINGLE = 'single'
const GROUPS = [SINGLE, 'other', null] as const
const PRIORITIES = [0, 0, 0, 2, -1] as const
const DELAYS_MS = [0, 0, 0, 120, 400] as const
const TAGS = [[], ['even', 'first'], ['odd']] as const
/** One of so many jobs is enqueued again, under its idempotency key. */
const JOBS_TO_A_REPEAT = 4
const LATER_MS = 1500

const kind = (open: Kind['open']): Kind => ({ open, prepare, enqueue, attemptsToAFailure: 6 })

/** Retries, because the first process may start while no server answers. */
async function prepare(queue: AnyQueue): Promise<void> {
  await queue.settings.set({ retention: { count: 20, age: '1m' } })
  await queue.settings.setGroup(SINGLE, { concurrency: 1 })
}

async function enqueue(site: Site, queue: AnyQueue, id: string, n: number): Promise<void> {
  const { luck, recorder, over } = site
  const [group, priority] = [oneOf(luck, GROUPS), oneOf(luck, PRIORITIES)]
  const [delayMs, tags] = [oneOf(luck, DELAYS_MS), oneOf(luck, TAGS)]
  const options = {
    id,
    idempotencyKey: `key of ${id}`,
    priority,
    delay: `${delayMs}ms`,
    tags,
    maxAttempts: 1000,
    backoff: { kind: 'fixed', base: '100ms' },
    ...(group === null ? {} : { group }),
  } as const
  const add = (what: string): Promise<unknown> =>
    recorder.call(
      { what, key: id, given: { group, priority, delayMs } },
      () => queue.enqueue('step', { n }, options),
      ({ duplicate }) => ({ duplicate }),
    )
  const added = await add('enqueue')
  if (added === null || between(luck, 1, JOBS_TO_A_REPEAT) > 1) return
  await sleep(between(luck, 0, LATER_MS), undefined, { signal: over }).catch(() => undefined)
  await add('enqueue again')
}

export const queueOptions: Workload = workload(kind(({ redis }) => redis.queue<Jobs>('options')))
export const queueOptionsPartitioned: Workload = workload(
  kind(({ redis }) => redis.queue<Jobs>('options-spread', { partitions: 3 })),
)
