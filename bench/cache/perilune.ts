// Our cache as it is shipped: compiled, one library for each connection.

import { Redis } from 'ioredis'
import { builtLibrary } from '../harness/built.ts'
import {
  type Contender,
  type Entry,
  IN_PROCESS,
  leftMs,
  PERILUNE,
  type Source,
  STALE,
  TAGGED,
  type Terms,
} from './contender.ts'

interface Ways {
  /** Of the cache, whose keys begin with it. */
  readonly cache: string
  readonly staleMs: number
  readonly tags: readonly string[]
  /** Values that the process keeps; none of its own: none. */
  readonly l1?: { readonly count: number; readonly share: boolean }
}

const STALE_MS = 10_000

export const perilune: Contender = toContender(PERILUNE, 'nothing set but ttl: loaded ahead, never stale', {
  cache: 'bench',
  staleMs: 0,
  tags: [],
})

export const tagged: Contender = toContender(TAGGED, 'the same, every get names one tag', {
  cache: 'tagged',
  staleMs: 0,
  tags: ['team'],
})

export const l1: Contender = toContender(
  IN_PROCESS,
  'l1 { count: 1000, share: true }, the other limits as by default',
  { cache: 'level', staleMs: 0, tags: [], l1: { count: 1000, share: true } },
)

export const staleServed: Contender = toContender(STALE, `staleWhileRevalidate ${STALE_MS / 1000}s`, {
  cache: 'stale',
  staleMs: STALE_MS,
  tags: [],
})

function toContender(name: string, settings: string, ways: Ways): Contender {
  const { staleMs, tags, l1: level } = ways
  return {
    name,
    settings,
    async connect(port: number, { freshMs }: Terms): Promise<Source> {
      const { perilune: open, ioredis } = await builtLibrary()
      const client = new Redis(port)
      const library = open(ioredis(client))
      const cache = library.cache<Entry>(ways.cache, {
        ttl: `${freshMs}ms`,
        staleWhileRevalidate: `${staleMs}ms`,
        ...(level === undefined ? {} : { l1: level }),
      })
      const options = tags.length === 0 ? undefined : { tags }
      return {
        get: (key, load) => cache.get(key, load, options),
        fill: (key, load, endsAtMs) =>
          cache.get(key, async (context) => {
            const value = await load()
            context.keep({ ttl: `${leftMs(endsAtMs)}ms` })
            return value
          }),
        async close() {
          await library.close()
          client.disconnect()
        },
      }
    },
  }
}
