// Waiting in line for a lease. The script grants, or gives a place in line. Each release grants to the first in line
// and notifies its process (lua/shared/line).

import { type Attempts, abandon, guarded } from './attempts.ts'
import type { Deadlines } from '../time/deadlines.ts'
import { askingAt, type Grant, toGrant } from '../keeper/grant.ts'
import { type Opening, openWithin } from '../subscriptions/open-within.ts'
import { unlessAborted } from '../time/in-time.ts'
import type { Mailbox, Post } from '../subscriptions/mailbox.ts'
import type { Trace } from '../calls/runner.ts'
import { Waiter } from './waiter.ts'

export interface LineTerms {
  readonly mailbox: Mailbox
  /** End the waiting when the instance closes. */
  readonly deadlines: Deadlines
  /** Identifies the line: all its waiters in this process use the same name. */
  readonly line: string
  /** The beginning of the channels on which processes are notified. */
  channel(): string | Promise<string>
  /** The node that serves it, as far as known. */
  readonly node: string
  /** The line may have been deleted since this `performance.now()`: a grant of then is requested again. */
  mayBeCleared(since: number): boolean
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
}

/** Resolves to null when nothing became free for `waitMs`. Rejects with the signal's reason. */
export function standInLine(attempts: Attempts, terms: LineTerms): Promise<Grant | null> {
  const { mailbox, waitMs, signal } = terms
  if (signal?.aborted) return Promise.reject(signal.reason)
  const id = mailbox.newAttemptId()
  if (waitMs === 0) return tryOnce(attempts, id, terms)
  return attempts.passes ? tryFirst(attempts, id, terms) : waitFor(attempts, id, terms)
}

async function tryFirst(attempts: Attempts, id: string, terms: LineTerms): Promise<Grant | null> {
  // Waits in line under a new id: a late grant of the first attempt is given back under its own id.
  return (await tryOnce(attempts, id, terms)) ?? waitFor(attempts, terms.mailbox.newAttemptId(), terms)
}

async function waitFor(attempts: Attempts, id: string, terms: LineTerms): Promise<Grant | null> {
  const endsAt = performance.now() + terms.waitMs
  const { mailbox, signal, deadlines, line, mayBeCleared } = terms
  const opening = postNow(terms, id) ?? (await openPost(terms, id))
  const waiter = new Waiter(attempts, id, { mailbox, opening, endsAt, signal, deadlines, line, mayBeCleared })
  try {
    return await waiter.wait()
  } finally {
    opening.close()
  }
}

async function tryOnce(
  attempts: Attempts,
  id: string,
  terms: Pick<LineTerms, 'mailbox' | 'signal' | 'mayBeCleared'>,
  trace: Trace = {},
): Promise<Grant | null> {
  const { mailbox, signal } = terms
  const askedAt = askingAt()
  const asking = attempts.attempt(id, { waits: false, listens: false, trace })
  const giveUp = (): void => abandon(attempts, id, mailbox, { asking, trace })
  try {
    const standing = await unlessAborted(asking, signal)
    if ('nowMs' in standing && !mailbox.clock.known) mailbox.clock.note(standing.nowMs, askedAt)
    const grant = standing.status === 'granted' ? toGrant(standing, askedAt) : null
    if (grant !== null && terms.mayBeCleared(askedAt)) return await tryOnce(attempts, id, terms, trace)
    if (grant !== null && grant.endsAt > performance.now())
      return guarded(grant, attempts, id, mailbox, { trace })
    if (grant !== null || trace.repeated === true) giveUp()
    return null
  } catch (error) {
    giveUp()
    throw error
  }
}

/** Null when the process has to subscribe first. */
function postNow(terms: LineTerms, id: string): Opening<Post> | null {
  const channel = terms.channel()
  if (typeof channel !== 'string') channel.catch(() => undefined) // asked again by what opens
  const post = typeof channel === 'string' ? terms.mailbox.expectNow(channel, id) : null
  return post && { now: post, close: () => post.close() }
}

function openPost(terms: LineTerms, id: string): Promise<Opening<Post>> {
  const { mailbox } = terms
  const open = async (): Promise<Post> => mailbox.expect(await terms.channel(), id)
  return openWithin(mailbox.reopeningAt(terms.node), open, terms.waitMs, terms.signal)
}
