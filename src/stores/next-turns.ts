// Turns: a revalidation of tags takes the next turn of its cache, and an entry is stored with the newest turn before
// it. So their order is known whatever clocks say.

import { randomUUID } from 'node:crypto'
import type { WasSet } from '../cache/cache.ts'
import { LONGEST } from './kept-for.ts'
import type { NextCache } from './next-context.ts'

export interface TagTurn {
  /** When the server has lost the turns, they restart under another line. */
  readonly line: string
  readonly number: number
}

/** All keys of tags and entries contain a colon. */
const KEY = 'turns'

/** The newest turn; the first one when there is none. */
export async function newestTurn(cache: NextCache): Promise<TagTurn> {
  return (await readTurn(cache)) ?? nextTurn(cache)
}

/** A turn that this or another call took after this call began: everything stored before has an older one. */
export async function nextTurn(cache: NextCache): Promise<TagTurn> {
  const before = await readTurn(cache)
  for (let [newest, least] = [before, 0]; ; newest = await readTurn(cache)) {
    if (newest !== null && isLater(newest, before)) return newest
    const number = Math.max(newest?.number ?? 0, least) + 1
    const turn = { line: newest?.line ?? randomUUID(), number }
    // A version that is not greater is rejected: another process was faster.
    const set = await putTurn(cache, turn)
    if (set.stored) return turn
    least = set.version
  }
}

/**
 * Ensures that later entries are not older than this turn. If the node with the turns has lost its newest ones, while
 * other nodes still have the revalidations, no new entry would ever be valid.
 */
export async function keepUpWith(cache: NextCache, turn: TagTurn): Promise<void> {
  if (isLater(turn, await readTurn(cache))) await putTurn(cache, turn)
}

/** False when one of them is unknown, or their order is. */
export function isLater(one: TagTurn | null, other: TagTurn | null | undefined): boolean {
  if (!one || !other) return false
  return one.line === other.line && one.number > other.number
}

/** The turn stored with a revalidation; versions before this one stored none. */
export function turnOf(value: unknown): TagTurn | null {
  return (Object(value) as { turn?: TagTurn }).turn ?? null
}

function putTurn(cache: NextCache, turn: TagTurn): Promise<WasSet> {
  return cache.set(KEY, turn as never, { version: turn.number, ttl: LONGEST, staleWhileRevalidate: LONGEST })
}

async function readTurn(cache: NextCache): Promise<TagTurn | null> {
  return ((await cache.getEntry(KEY))?.value as TagTurn | undefined) ?? null
}
