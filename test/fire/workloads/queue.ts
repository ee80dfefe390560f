import type { ClaimedJob, PartitionedQueue, Queue } from 'perilune'
import { between } from '../cell.ts'
import { hold } from './holding.ts'
import { eventually, LEASE, repeat, type Site, WAIT_MS, type Workload } from './workload.ts'

type Jobs = { step: { n: number } }
type AnyQueue = Queue<Jobs> | PartitionedQueue<Jobs>
type Open = (site: Site) => AnyQueue

/** A job of which this process believes that nobody else has it. */
async function attempt({ recorder }: Site, job: ClaimedJob<Jobs['step']>, ms: number): Promise<void> {
  const { id, token } = job
  const assertHeld = (): void => {
    if (job.remainingMs === 0) throw new Error('lost')
  }
  const isHeld = await hold(recorder, id, { token, assertHeld }, ms)
  if (isHeld) await recorder.call({ what: 'ack', key: id, given: { token } }, () => job.ack())
}

async function claim(site: Site, queue: AnyQueue, waitMs: number, mostMs: number): Promise<void> {
  const got = await site.recorder.call(
    { what: 'claim', waitMs },
    () => queue.claim({ limit: 5, lease: LEASE, wait: `${waitMs}ms` }),
    (jobs) => ({ jobs: jobs.map(({ id, token, attempt: count }) => ({ id, token, attempt: count })) }),
  )
  for (const job of got?.value ?? []) await attempt(site, job, between(site.luck, 0, mostMs))
}

function producing(site: Site, queue: AnyQueue): () => Promise<unknown> {
  let made = 0
  return () => {
    const n = ++made
    const id = `job-${site.process}-${n}`
    return site.recorder.call({ what: 'enqueue', key: id }, () =>
      queue.enqueue('step', { n }, { id, maxAttempts: 1000 }),
    )
  }
}

/** The last of the processes works by handlers, the others by hand. */
async function consume(site: Site, queue: AnyQueue): Promise<void> {
  if (site.process < site.processes - 1) return repeat(site, 10, () => claim(site, queue, WAIT_MS, 25))
  const { recorder, luck, over } = site
  const step = async ({ id, token, attempt: count, signal }: ClaimedJob<Jobs['step']>): Promise<void> => {
    recorder.metAgain('started', id, { token, attempt: count })
    await hold(recorder, id, { token, signal }, between(luck, 2, 30))
  }
  const worker = queue.work(
    { step },
    {
      lease: LEASE,
      concurrency: 2,
      onError: (error, job) => {
        if (job !== null) recorder.saw('told', job.id, { token: job.token, error: String(error) })
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

function workload(open: Open): Workload {
  return {
    async work(site) {
      const queue = open(site)
      await Promise.all([repeat(site, 90, producing(site, queue)), consume(site, queue)])
    },
    async look(site) {
      const queue = open(site)
      const drained = await eventually(async () => {
        await claim(site, queue, 50, 0)
        return isEmpty(queue)
      })
      const { dead } = await queue.inspect()
      site.recorder.saw('left', '', { drained, dead })
    },
  }
}

export const queue: Workload = workload(({ redis }) => redis.queue<Jobs>('jobs'))
export const queuePartitioned: Workload = workload(({ redis }) =>
  redis.queue<Jobs>('spread', { partitions: 3 }),
)
