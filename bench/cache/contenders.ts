// Who is measured, in the order of the tables. A new contender is a line here.

import { bentoCache } from './bentocache.ts'
import type { Contender } from './contender.ts'
import { doubleEntry } from './double-entry.ts'
import { cacheable, cacheManager } from './keyv-caches.ts'
import { naive } from './naive.ts'
import { l1, perilune, staleServed, tagged } from './perilune.ts'
import { xfetch } from './xfetch.ts'

/** The first is the floor of a hit: GET and JSON.parse. */
export const HITTERS: readonly Contender[] = [
  naive,
  xfetch,
  bentoCache,
  cacheable,
  cacheManager,
  perilune,
  tagged,
  l1,
]

export const LOADERS: readonly Contender[] = [naive, xfetch, bentoCache, cacheable, cacheManager, perilune]

/** The origin's case. */
export const ORIGINS: readonly Contender[] = [naive, xfetch, doubleEntry, perilune, staleServed]

export const CACHES: readonly Contender[] = [...HITTERS, doubleEntry, staleServed]
