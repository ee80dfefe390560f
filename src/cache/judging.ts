// What a stored value is worth, by the server's clock as this process knows it at its latest.
//
//   created ──fresh──────────due──fresh until──stale──stale until──absent
//                             └── a load begins ahead of the end, while the value is still served

import type { Envelope } from './envelope.ts'
import type { Terms } from './options.ts'

/** `due`: fresh, and time to load it again. */
export type Worth = 'fresh' | 'due' | 'stale' | 'absent'

/** So many times its load lasted, the next one begins ahead. */
const AHEAD = 1.5
/** But not before this part of the fresh time has passed. */
const LONGEST_AHEAD = 0.5
/** Further the clocks of the nodes of a cluster are not apart. */
const SKEW_MS = 5000

export function judge(envelope: Envelope, terms: Terms, nowMs: number): Worth {
  const { freshUntilMs } = envelope
  if (nowMs >= freshUntilMs) return nowMs < envelope.staleUntilMs ? 'stale' : 'absent'
  // The server's clock has stepped back since, and nobody knows how old the value is.
  if (envelope.createdAtMs > nowMs + SKEW_MS) return 'stale'
  return terms.early !== false && freshUntilMs - nowMs <= leadMs(envelope, terms) ? 'due' : 'fresh'
}

/** Whole milliseconds; none where the server's clock has stepped back since. */
export function ageOf({ createdAtMs }: Envelope, nowMs: number): number {
  return Math.max(0, Math.floor(nowMs - createdAtMs))
}

/** How long before its end a value is due. */
function leadMs(envelope: Envelope, { early, beta }: Terms): number {
  const { loadMs, freshUntilMs, createdAtMs } = envelope
  const longestMs = (freshUntilMs - createdAtMs) * LONGEST_AHEAD
  // XFetch, after Vattani, Chierichetti and Lowenstein, "Optimal Probabilistic Cache Stampede Prevention", VLDB
  // 2015: an exponential variable with the mean beta times the load. 1 - random() is never 0.
  const wishedMs = early === 'xfetch' ? -loadMs * beta * Math.log(1 - Math.random()) : loadMs * AHEAD
  return Math.min(wishedMs, longestMs)
}
