// What Next.js hands in, and what is used of a cache.

import type { Cache, SetOptions, WasSet } from '../cache/cache.ts'

/** What is used of a cache. */
export type NextCache = Pick<Cache<unknown>, 'getEntry'> & {
  set(key: string, value: never, options: SetOptions): Promise<WasSet>
}

/** How long an entry counts, in seconds, as Next.js says it. */
export interface NextCacheControl {
  readonly revalidate: number | false
  readonly expire: number | undefined
}

/** What Next.js says of what it asks for, or keeps. */
export interface NextContext {
  readonly kind?: string
  readonly fetchCache?: boolean
  readonly tags?: string[]
  readonly softTags?: string[]
  readonly cacheControl?: NextCacheControl
}
