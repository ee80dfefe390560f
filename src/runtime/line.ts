// Standing in line for a lease. The script grants, or gives a place in the line; whoever frees something
// grants it to the first in line and tells its process (lua/shared/tickets).

import { setMaxListeners } from 'node:events'
import { askingAt, type Grant, toGrant } from './grant.ts'
import { within } from './in-time.ts'
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
  // One signal may end the waiting of thousands.
  if (signal !== undefined) setMaxListeners(0, signal)
  const id = mailbox.newId()
  if (waitMs === 0) return tryOnce(attempts, id)
  return attempts.passes ? tryFirst(attempts, id, terms) : waitFor(attempts, id, terms)
}

async function tryFirst(attempts: Attempts, id: string, terms: LineTerms): Promise<Grant | null> {
  // A new name to stand in line with: what came too late is given back under the first.
  return (await tryOnce(attempts, id)) ?? waitFor(attempts, terms.mailbox.newId(), terms)
}

async function waitFor(attempts: Attempts, id: string, terms: LineTerms): Promise<Grant | null> {
  const endsAt = performance.now() + terms.waitMs
  const post = postNow(terms, id) ?? (await openPost(terms, id))
  const waiter = new Waiter(attempts, id, post, endsAt, terms.signal)
  try {
    return await waiter.wait()
  } finally {
    post?.close()
  }
}

async function tryOnce(attempts: Attempts, id: string): Promise<Grant | null> {
  const askedAt = askingAt()
  const asking = attempts.attempt(id, { waits: false, listens: false })
  try {
    const standing = await asking
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
function postNow(terms: LineTerms, id: string): Post | null {
  const channel = terms.channel()
  return typeof channel === 'string' ? terms.mailbox.expectNow(channel, id) : null
}

/** Null when the process cannot listen. */
async function openPost(terms: LineTerms, id: string): Promise<Post | null> {
  const opening = Promise.resolve(terms.channel()).then((channel) => terms.mailbox.expect(channel, id))
  try {
    return await within(opening, Math.min(terms.waitMs, OPENING_MS), terms.signal)
  } catch {
    // Came too late: nobody will use it.
    opening.then((post) => post.close()).catch(() => undefined)
    terms.signal?.throwIfAborted()
    return null
  }
}
