// The arguments of Next.js, and the part of a cache that the handler uses.

import type { Cache, SetOptions, WasSet } from '../cache/cache.ts'

/** The part of a cache that the handler uses. */
export type NextCache = Pick<Cache<unknown>, 'getEntry'> & {
  set(key: string, value: never, options: SetOptions): Promise<WasSet>
}

/** How long an entry is valid, in seconds, in the form of Next.js. */
export interface NextCacheControl {
  readonly revalidate: number | false
  readonly expire: number | undefined
}

/** The context that Next.js passes with a read or a write. */
export interface NextContext {
  readonly kind?: string
  readonly fetchCache?: boolean
  readonly tags?: string[]
  readonly softTags?: string[]
  readonly cacheControl?: NextCacheControl
}
