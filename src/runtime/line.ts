// Standing in line for a lease. The script grants, or gives a place in the line; whoever frees something
// grants it to the first in line and tells its process (lua/shared/tickets).

import { type Grant, toGrant } from './grant.ts'
import { openWithin, unlessAborted } from './in-time.ts'
import type { Mailbox, Post } from './mailbox.ts'
import { type Attempts, abandon, Waiter } from './waiter.ts'

export interface LineTerms {
  readonly mailbox: Mailbox
  /** Beginning of the channels on which processes are told. */
  channel(): string | Promise<string>
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
}

// Whoever cannot listen by then does without: what is free should not wait for that.
const OPENING_MS = 1000

/** Resolves to null when nothing became free for `waitMs`. Rejects with the signal's reason. */
export function standInLine(attempts: Attempts, terms: LineTerms): Promise<Grant | null> {
  const { mailbox, waitMs, signal } = terms
  if (signal?.aborted) return Promise.reject(signal.reason)
  const id = mailbox.newId()
  if (waitMs === 0) return tryOnce(attempts, id, signal)
  return attempts.passes ? tryFirst(attempts, id, terms) : waitFor(attempts, id, terms)
}

async function tryFirst(attempts: Attempts, id: string, terms: LineTerms): Promise<Grant | null> {
  // A new name to stand in line with: what came too late is given back under the first.
  return (await tryOnce(attempts, id, terms.signal)) ?? waitFor(attempts, terms.mailbox.newId(), terms)
}

async function waitFor(attempts: Attempts, id: string, terms: LineTerms): Promise<Grant | null> {
  const endsAt = performance.now() + terms.waitMs
  const channel = terms.channel()
  const post = postNow(channel, terms, id) ?? (await openPost(channel, terms, id))
  const waiter = new Waiter(attempts, id, post, endsAt, terms.signal)
  try {
    return await waiter.wait()
  } finally {
    post?.close()
  }
}

async function tryOnce(attempts: Attempts, id: string, signal?: AbortSignal): Promise<Grant | null> {
  const askedAt = performance.now()
  const asking = attempts.attempt(id, { waits: false, listens: false })
  try {
    const standing = await unlessAborted(asking, signal)
    if (standing.status !== 'granted') return null
    const grant = toGrant(standing, askedAt)
    if (grant.endsAt > performance.now()) return grant
  } catch (error) {
    abandon(attempts, id, { asking, listens: false })
    throw error
  }
  abandon(attempts, id, { asking, listens: false })
  return null
}

/** Null when the process has to subscribe first. */
function postNow(channel: string | Promise<string>, terms: LineTerms, id: string): Post | null {
  return typeof channel === 'string' ? terms.mailbox.expectNow(channel, id) : null
}

/** Null when the process cannot listen. */
function openPost(channel: string | Promise<string>, terms: LineTerms, id: string): Promise<Post | null> {
  const opening = Promise.resolve(channel).then((known) => terms.mailbox.expect(known, id))
  return openWithin(opening, Math.min(terms.waitMs, OPENING_MS), terms.signal)
}
