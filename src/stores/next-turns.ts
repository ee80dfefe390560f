// Turns: a revalidation of tags takes the next one of its cache, and an entry is stored with the newest that was there before
// it. So it is known which came first whatever clocks say.

import { randomUUID } from 'node:crypto'
import type { WasSet } from '../cache/cache.ts'
import { LONGEST } from './kept-for.ts'
import type { NextCache } from './next-context.ts'

export interface TagTurn {
  /** Turns that a server has forgotten begin anew under another one. */
  readonly line: string
  readonly number: number
}

/** No tag and no entry has a key without a colon. */
const KEY = 'turns'

/** The newest turn; the first one where there is none. */
export async function newestTurn(cache: NextCache): Promise<TagTurn> {
  return (await readTurn(cache)) ?? nextTurn(cache)
}

/** One that was taken after this call began, by this one or by another: what was stored before has an older one. */
export async function nextTurn(cache: NextCache): Promise<TagTurn> {
  const before = await readTurn(cache)
  for (let [newest, least] = [before, 0]; ; newest = await readTurn(cache)) {
    if (newest !== null && isLater(newest, before)) return newest
    const number = Math.max(newest?.number ?? 0, least) + 1
    const turn = { line: newest?.line ?? randomUUID(), number }
    // A version that is not greater is refused: somebody else was faster.
    const set = await putTurn(cache, turn)
    if (set.stored) return turn
    least = set.version
  }
}

/**
 * Sees to it that what is stored from now on is not older than this turn. Where turns are on a node that has lost its newest ones, and
 * notes of revalidations on others that have lost none, nothing would be new any more.
 */
export async function keepUpWith(cache: NextCache, turn: TagTurn): Promise<void> {
  if (isLater(turn, await readTurn(cache))) await putTurn(cache, turn)
}

/** False where one of them is not known, or nobody can tell. */
export function isLater(one: TagTurn | null, other: TagTurn | null | undefined): boolean {
  if (!one || !other) return false
  return one.line === other.line && one.number > other.number
}

/** The turn in what is kept of a revalidation; versions before this one have kept none. */
export function turnOf(value: unknown): TagTurn | null {
  return (Object(value) as { turn?: TagTurn }).turn ?? null
}

function putTurn(cache: NextCache, turn: TagTurn): Promise<WasSet> {
  return cache.set(KEY, turn as never, { version: turn.number, ttl: LONGEST, staleWhileRevalidate: LONGEST })
}

async function readTurn(cache: NextCache): Promise<TagTurn | null> {
  return ((await cache.getEntry(KEY))?.value as TagTurn | undefined) ?? null
}
