import type { ClaimedJob, PartitionedQueue, Queue } from 'perilune'
import { between } from '../cell.ts'
import { hold } from './holding.ts'
import { eventually, LEASE, repeat, type Site, WAIT_MS, type Workload } from './workload.ts'

export type Job = { n: number }
export type Jobs = { step: Job }
export type AnyQueue = Queue<Jobs> | PartitionedQueue<Jobs>

/** The differences between the jobs of a workload and others. */
export interface Kind {
  open(site: Site): AnyQueue
  /** Before anything else. */
  prepare?(queue: AnyQueue): Promise<void>
  enqueue(site: Site, queue: AnyQueue, id: string, n: number): Promise<unknown>
  /** One of so many attempts fails; null: none. */
  readonly attemptsToAFailure: number | null
}

const RETRY_DELAY = '100ms'

/** A job that this process believes to hold alone. */
async function attempt({ recorder }: Site, job: ClaimedJob<Job>, ms: number, fails: boolean): Promise<void> {
  const { id, token } = job
  const assertHeld = (): void => {
    if (job.remainingMs === 0) throw new Error('lost')
  }
  const isHeld = await hold(recorder, id, { token, assertHeld }, ms)
  if (!isHeld) return
  const given = { token }
  if (fails) await recorder.call({ what: 'retry', key: id, given }, () => job.retry({ delay: RETRY_DELAY }))
  else await recorder.call({ what: 'ack', key: id, given }, () => job.ack())
}

function mayFail({ luck }: Site, { attemptsToAFailure: count }: Kind): boolean {
  return count !== null && between(luck, 1, count) === 1
}

async function claim(
  site: Site,
  queue: AnyQueue,
  waitMs: number,
  mostMs: number,
  fails: () => boolean,
): Promise<void> {
  const got = await site.recorder.call(
    { what: 'claim', waitMs },
    () => queue.claim({ limit: 5, lease: LEASE, wait: `${waitMs}ms` }),
    (jobs) => ({ jobs: jobs.map(({ id, token, attempt: count }) => ({ id, token, attempt: count })) }),
  )
  for (const job of got?.value ?? []) await attempt(site, job, between(site.luck, 0, mostMs), fails())
}

function producing(site: Site, kind: Kind, queue: AnyQueue): () => Promise<unknown> {
  let made = 0
  return () => {
    const n = ++made
    return kind.enqueue(site, queue, `job-${site.process}-${n}`, n)
  }
}

/** The last of the processes works by handlers, the others by hand. */
async function consume(site: Site, kind: Kind, queue: AnyQueue): Promise<void> {
  const fails = (): boolean => mayFail(site, kind)
  if (site.process < site.processes - 1) return repeat(site, 10, () => claim(site, queue, WAIT_MS, 25, fails))
  const { recorder, luck, over } = site
  const step = async ({ id, token, attempt: count, signal }: ClaimedJob<Job>): Promise<void> => {
    recorder.metAgain('started', id, { token, attempt: count })
    await hold(recorder, id, { token, signal }, between(luck, 2, 30))
    if (fails()) throw new Error('this attempt fails')
  }
  const worker = queue.work(
    { step },
    {
      lease: LEASE,
      concurrency: 2,
      onError: (error, job) => {
        if (job !== null) recorder.saw('reported', job.id, { token: job.token, error: String(error) })
      },
      onSettled: ({ id, token, outcome }) => recorder.saw(`settled: ${outcome}`, id, { token }),
    },
  )
  await new Promise((resolve) => over.addEventListener('abort', resolve, { once: true }))
  await worker.close()
}

async function isEmpty(queue: AnyQueue): Promise<boolean> {
  const { ready, claimed, scheduled } = await queue.inspect()
  return ready + claimed + scheduled === 0
}

export function workload(kind: Kind): Workload {
  return {
    async work(site) {
      const queue = kind.open(site)
      await kind.prepare?.(queue)
      await Promise.all([repeat(site, 90, producing(site, kind, queue)), consume(site, kind, queue)])
    },
    async look(site) {
      const queue = kind.open(site)
      const drained = await eventually(async () => {
        await claim(site, queue, 50, 0, () => false)
        return isEmpty(queue)
      })
      const { dead } = await queue.inspect()
      site.recorder.saw('left', '', { drained, dead })
    },
  }
}

function plain(open: Kind['open']): Kind {
  return {
    open,
    enqueue: ({ recorder }, jobs, id, n) =>
      recorder.call({ what: 'enqueue', key: id }, () =>
        jobs.enqueue('step', { n }, { id, maxAttempts: 1000 }),
      ),
    attemptsToAFailure: null,
  }
}

export const queue: Workload = workload(plain(({ redis }) => redis.queue<Jobs>('jobs')))
export const queuePartitioned: Workload = workload(
  plain(({ redis }) => redis.queue<Jobs>('spread', { partitions: 3 })),
)
