// Tags of Next.js. An entry may have more of them than a value of a cache, and more when it is asked for than when it
// was stored, so each is an entry of its own that says when it was revalidated, by the server's clock:
//
//   hard: whatever was stored before must not be served
//   soft: whatever was stored before is served while it is made again, for so long; then as hard

import type { SetOptions } from '../cache/cache.ts'
import { fitName } from '../runtime/fit-name.ts'
import { keptFor, LONGEST } from './keeping.ts'
import type { NextCache } from './next-context.ts'

export type Verdict = 'fresh' | 'stale' | 'expired'

export async function revalidate(
  cache: NextCache,
  tag: string,
  durations?: { expire?: number },
): Promise<void> {
  if (durations === undefined) return note(cache, `hard:${tag}`, { freshFor: LONGEST, staleFor: LONGEST })
  const { expire } = durations
  const freshFor = expire === undefined ? LONGEST : keptFor(expire * 1000)
  return note(cache, `soft:${tag}`, { freshFor, staleFor: LONGEST })
}

/** What an entry with these tags that was stored then is worth. */
export async function judgeTags(
  cache: NextCache,
  tags: readonly string[],
  createdAtMs: number,
): Promise<Verdict> {
  const verdicts = await Promise.all(tags.map((tag) => judgeTag(cache, tag, createdAtMs)))
  if (verdicts.includes('expired')) return 'expired'
  return verdicts.includes('stale') ? 'stale' : 'fresh'
}

async function judgeTag(cache: NextCache, tag: string, createdAtMs: number): Promise<Verdict> {
  const [hard, soft] = await Promise.all([
    cache.find(fitName(`hard:${tag}`)),
    cache.find(fitName(`soft:${tag}`)),
  ])
  // Within one millisecond nobody knows which came first.
  if (hard !== null && hard.createdAtMs >= createdAtMs) return 'expired'
  if (soft === null || soft.createdAtMs < createdAtMs) return 'fresh'
  return soft.fresh ? 'stale' : 'expired'
}

async function note(cache: NextCache, key: string, options: SetOptions): Promise<void> {
  await cache.set(fitName(key), true as never, options)
}
