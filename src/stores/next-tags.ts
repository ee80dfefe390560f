// Tags of Next.js. An entry may have more tags than a cache value allows, and a read may add further tags. So each tag
// is an entry of its own with the time of its revalidation:
//
//   hard: entries stored before must not be served
//   soft: entries stored before may be served for a given time while a new one is made; after that, as hard
//
// The order of events follows from the server's clock. When that steps back, or two nodes disagree, the turns of
// next-turns decide.

import type { FoundValue } from '../cache/cache.ts'
import { fitName } from '../runtime/values/fit-name.ts'
import { keptFor, LONGEST } from './kept-for.ts'
import type { NextCache } from './next-context.ts'
import { isLater, keepUpWith, nextTurn, type TagTurn, turnOf } from './next-turns.ts'

export type Verdict = 'fresh' | 'stale' | 'expired'

/** When an entry was stored. */
export interface StoredAt {
  readonly createdAtMs: number
  /** The newest turn before it was stored; absent when another version has stored it. */
  readonly turn?: TagTurn
}

export async function revalidate(
  cache: NextCache,
  tags: readonly string[],
  durations?: { expire?: number },
): Promise<void> {
  const turn = await nextTurn(cache)
  const expire = durations?.expire
  const ttl = expire === undefined ? LONGEST : keptFor(expire * 1000)
  const kind = durations === undefined ? 'hard' : 'soft'
  const note = (tag: string): Promise<unknown> =>
    cache.set(fitName(`${kind}:${tag}`), { turn } as never, { ttl, staleWhileRevalidate: LONGEST })
  await Promise.all(tags.map(note))
}

/** Whether an entry with these tags, stored at that time, may be served. */
export async function judgeTags(
  cache: NextCache,
  tags: readonly string[],
  stored: StoredAt,
): Promise<Verdict> {
  const verdicts = await Promise.all(tags.map((tag) => judgeTag(cache, tag, stored)))
  if (verdicts.includes('expired')) return 'expired'
  return verdicts.includes('stale') ? 'stale' : 'fresh'
}

async function judgeTag(cache: NextCache, tag: string, stored: StoredAt): Promise<Verdict> {
  const [hard, soft] = await Promise.all([
    cache.getEntry(fitName(`hard:${tag}`)),
    cache.getEntry(fitName(`soft:${tag}`)),
  ])
  if (hard !== null && (await cameAfter(cache, hard, stored))) return 'expired'
  if (soft === null || !(await cameAfter(cache, soft, stored))) return 'fresh'
  return soft.fresh ? 'stale' : 'expired'
}

/** Whether a tag was revalidated after an entry was stored. */
async function cameAfter(
  cache: NextCache,
  note: FoundValue<unknown>,
  { createdAtMs, turn }: StoredAt,
): Promise<boolean> {
  // Within one millisecond the order is unknown.
  if (note.createdAtMs >= createdAtMs) return true
  const noted = turnOf(note.value)
  if (noted === null || !isLater(noted, turn)) return false
  await keepUpWith(cache, noted)
  return true
}
