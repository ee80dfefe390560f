// Carries the pushes of one queue to its subscribers.
//
// A push is a message in a feed of the queue's own. It is claimed, sent, and acked once the subscriber has
// taken it. One that failed is appended again with its delay before it is acked, under a key that makes it
// one however often this happens. So a process may die at any point and no push is lost: its lease runs
// out and another process sends it, perhaps for the second time.

import { setTimeout as sleep } from 'node:timers/promises'
import { type Claim, type Feed, LeaseLostError, type Message } from 'perilune'
import { decodeJob, encodeJob, idempotencyKeyOf, type Job } from './job.ts'

export interface CourierParts {
  readonly feed: Feed<string>
  readonly concurrency: number
  /** One push must be over within a third of it. */
  readonly leaseMs: number
  /** Sends a job. Resolves to the seconds after which it is to be tried again, or null when it is done with. */
  readonly carry: (job: Job) => Promise<number | null>
  /** Asked when there has been nothing to do for a while. */
  readonly mayRest: () => Promise<boolean>
  readonly onError: (error: unknown) => void
}

const IDLE = '1m'
const PAUSE_MS = 1000

/** Works until nothing is left to do, or the signal aborts: then what is under way is finished first. */
export async function runCourier(parts: CourierParts, signal: AbortSignal): Promise<void> {
  const underWay = new Set<Promise<void>>()
  while (!signal.aborted) {
    const free = parts.concurrency - underWay.size
    if (free === 0) {
      await Promise.race(underWay)
      continue
    }
    const claim = await claimNext(parts, free, signal)
    if (claim === 'rest') break
    for (const message of claim?.messages ?? []) {
      const work = handle(parts, claim, message).finally(() => underWay.delete(work))
      underWay.add(work)
    }
  }
  await Promise.all(underWay)
}

async function claimNext(
  { feed, leaseMs, mayRest, onError }: CourierParts,
  limit: number,
  signal: AbortSignal,
): Promise<Claim<string> | null | 'rest'> {
  try {
    const claim = await feed.claim({ limit, lease: `${leaseMs}ms`, wait: IDLE, signal })
    return claim === null && (await mayRest()) ? 'rest' : claim
  } catch (error) {
    if (signal.aborted) return null
    onError(error)
    await sleep(PAUSE_MS)
    return null
  }
}

/** What fails here is still claimed, and comes again when the lease is over. */
async function handle(
  parts: CourierParts,
  claim: Claim<string> | null,
  message: Message<string>,
): Promise<void> {
  try {
    const job = decodeJob(message.body)
    const delay = await parts.carry(job)
    if (delay !== null) await putBack(parts.feed, job, delay)
    await claim?.ack([message.id])
  } catch (error) {
    if (!(error instanceof LeaseLostError)) parts.onError(error)
  }
}

async function putBack(feed: Feed<string>, job: Job, delay: number): Promise<void> {
  const next = { ...job, retries: job.retries + 1 }
  await feed.append(encodeJob(next), { delay: `${delay}s`, idempotencyKey: idempotencyKeyOf(next) })
}
