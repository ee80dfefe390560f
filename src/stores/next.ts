// The `cacheHandler` of Next.js on a cache: pages, routes and fetches of all its processes in one place. Next.js
// decides by the storage time whether an entry is too old; the handler decides whether its tags have been revalidated
// since.

import { checkOptions } from '../runtime/values/arguments.ts'
import { notifying } from '../runtime/errors/notify.ts'
import { isOutage } from '../runtime/errors/outage.ts'
import { fitName } from '../runtime/values/fit-name.ts'
import { keptFor } from './kept-for.ts'
import type { NextCache, NextCacheControl, NextContext } from './next-context.ts'
import { judgeTags, revalidate } from './next-tags.ts'
import { newestTurn } from './next-turns.ts'
import { fromStored, type StoredEntry, toStored } from './next-values.ts'

export interface NextCacheHandlerOptions {
  /** Called while Redis is unavailable, at most once a second; pages are then rendered without being stored. */
  onError?: (error: unknown) => void
}

export interface NextEntry<Value> {
  /**
   * By the clock of this process, with the entry's age by the server's clock; -1: Next.js makes the entry again before
   * it answers.
   */
  lastModified: number
  value: Value | null
  cacheControl?: NextCacheControl
}

/** Next.js creates one for each request. */
export interface NextCacheHandler<Value> {
  get(key: string, context: NextContext): Promise<NextEntry<Value> | null>
  set(key: string, value: Value | null, context: NextContext): Promise<void>
  revalidateTag(tags: string | string[], durations?: { expire?: number }): Promise<void>
  resetRequestCache(): void
}

export type NextCacheHandlerClass<Value> = new (context: {
  revalidatedTags?: string[]
}) => NextCacheHandler<Value>

/** How long Redis is not asked after it did not answer. */
const AWAY_MS = 1000
const YEAR_S = 365 * 24 * 60 * 60

/** `export default nextCacheHandler(redis.cache('next:' + buildId))` in the module that `cacheHandler` names. */
export function nextCacheHandler<Value extends object = { kind: string }>(
  cache: NextCache,
  options: NextCacheHandlerOptions = {},
): NextCacheHandlerClass<Value> {
  checkOptions('options', options, ['onError'])
  const redis = new Availability(options)
  return class implements NextCacheHandler<Value> {
    readonly #revalidated: readonly string[]

    constructor({ revalidatedTags = [] }: { revalidatedTags?: string[] }) {
      this.#revalidated = revalidatedTags
    }

    async get(key: string, context: NextContext): Promise<NextEntry<Value> | null> {
      return redis.unlessAway(() => find<Value>(cache, key, context, this.#revalidated))
    }

    async set(key: string, value: Value | null, context: NextContext): Promise<void> {
      const ttl = keptFor((context.cacheControl?.expire ?? YEAR_S) * 1000)
      await redis.unlessAway(async () => {
        const stored = toStored(value, context, await newestTurn(cache))
        return cache.set(placeOf(key, context), stored as never, { ttl, staleWhileRevalidate: '0s' })
      })
    }

    /** Rejects while Redis is unavailable: otherwise outdated pages would stay without notice. */
    async revalidateTag(tags: string | string[], durations?: { expire?: number }): Promise<void> {
      await revalidate(cache, [tags].flat(), durations)
    }

    /** The handler keeps no state per request. */
    resetRequestCache(): void {}
  }
}

/** Whether Redis is available, shared by all handlers of a process. */
class Availability {
  readonly #onError: (error: unknown) => void
  #awayUntil = 0
  #silentUntil = 0

  constructor({ onError }: NextCacheHandlerOptions) {
    this.#onError = notifying('onError', onError)
  }

  /**
   * Null while Redis is unavailable, or cannot do this. Only an unreachable Redis is then left alone for a while: a
   * full one still serves reads.
   */
  async unlessAway<Result>(ask: () => Promise<Result>): Promise<Result | null> {
    if (performance.now() < this.#awayUntil) return null
    try {
      return await ask()
    } catch (error) {
      if (!isOutage(error)) throw error
      const until = performance.now() + AWAY_MS
      if (error.code === 'unreachable' || error.code === 'ambiguous') this.#awayUntil = until
      this.#report(error, until)
      return null
    }
  }

  /** At most once in that time. */
  #report(error: unknown, until: number): void {
    if (performance.now() < this.#silentUntil) return
    this.#silentUntil = until
    this.#onError(error)
  }
}

async function find<Value extends object>(
  cache: NextCache,
  key: string,
  context: NextContext,
  revalidated: readonly string[],
): Promise<NextEntry<Value> | null> {
  const found = await cache.getEntry(placeOf(key, context))
  if (found === null) return null
  const stored = found.value as StoredEntry
  const tags = [...new Set([...stored.tags, ...(context.tags ?? []), ...(context.softTags ?? [])])]
  if (isFetch(context) && tags.some((tag) => revalidated.includes(tag))) return null
  const verdict = await judgeTags(cache, tags, { ...stored, createdAtMs: found.createdAtMs })
  if (verdict === 'expired') return null
  const value = fromStored<Value>(stored)
  const { cacheControl } = stored
  const lastModified = nowOfNext() - found.ageMs
  // For an entry that is not fresh, the server's clock has stepped back since: its age is unknown.
  if (verdict === 'stale' || !found.fresh) return { ...staleBy(lastModified, context, cacheControl), value }
  return { lastModified, value, ...(cacheControl === undefined ? {} : { cacheControl }) }
}

/**
 * Makes Next.js regard the entry as stale and serve it while it makes another one; Next.js decides that by age alone.
 */
function staleBy(
  storedAt: number,
  context: NextContext,
  cacheControl: NextCacheControl | undefined,
): { lastModified: number; cacheControl?: NextCacheControl } {
  if (isFetch(context)) return { lastModified: 1, ...(cacheControl === undefined ? {} : { cacheControl }) }
  const { revalidate: own, expire } = cacheControl ?? { revalidate: false, expire: undefined }
  // An entry that never gets too old by itself is stale from now on; the next one has its own age.
  const seconds = own === false ? 1 : own
  const lastModified = Math.min(storedAt, nowOfNext() - seconds * 1000 - 1)
  return { lastModified, cacheControl: { revalidate: seconds, expire } }
}

/** The clock by which Next.js computes the age of an entry. */
function nowOfNext(): number {
  return performance.timeOrigin + performance.now()
}

function placeOf(key: string, context: NextContext): string {
  return fitName(`${isFetch(context) ? 'fetch' : 'route'}:${key}`)
}

function isFetch({ kind, fetchCache }: NextContext): boolean {
  return fetchCache === true || kind === 'FETCH'
}

export type { NextCache, NextCacheControl, NextContext } from './next-context.ts'
