// Tags of Next.js. An entry may have more of them than a value of a cache, and more when it is asked for than when it
// was stored, so each is an entry of its own that says when it was revalidated:
//
//   hard: whatever was stored before must not be served
//   soft: whatever was stored before is served while it is made again, for so long; then as hard
//
// What came first say the server's clock and, where that steps back or two nodes do not agree, the turns of next-turns.

import type { FoundValue } from '../cache/cache.ts'
import { fitName } from '../runtime/values/fit-name.ts'
import { keptFor, LONGEST } from './kept-for.ts'
import type { NextCache } from './next-context.ts'
import { isLater, keepUpWith, nextTurn, type TagTurn, turnOf } from './next-turns.ts'

export type Verdict = 'fresh' | 'stale' | 'expired'

/** When an entry was stored. */
export interface StoredAt {
  readonly createdAtMs: number
  /** The newest that was there before; none where another version has stored it. */
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

/** What an entry with these tags that was stored then is worth. */
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
  // Within one millisecond nobody knows which came first.
  if (note.createdAtMs >= createdAtMs) return true
  const noted = turnOf(note.value)
  if (noted === null || !isLater(noted, turn)) return false
  await keepUpWith(cache, noted)
  return true
}
