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
  readonly inProcess?: { readonly count: number; readonly share: boolean }
}

const STALE_MS = 10_000

export const perilune: Contender = toContender(
  PERILUNE,
  'nothing set but freshFor: loaded ahead, never stale',
  { cache: 'bench', staleMs: 0, tags: [] },
)

export const tagged: Contender = toContender(TAGGED, 'the same, every get names one tag', {
  cache: 'tagged',
  staleMs: 0,
  tags: ['team'],
})

export const inProcess: Contender = toContender(
  IN_PROCESS,
  'inProcess { count: 1000, share: true }, the other limits as by default',
  { cache: 'level', staleMs: 0, tags: [], inProcess: { count: 1000, share: true } },
)

export const staleServed: Contender = toContender(STALE, `staleFor ${STALE_MS / 1000}s`, {
  cache: 'stale',
  staleMs: STALE_MS,
  tags: [],
})

function toContender(name: string, settings: string, ways: Ways): Contender {
  const { staleMs, tags, inProcess: level } = ways
  return {
    name,
    settings,
    async connect(port: number, { freshMs }: Terms): Promise<Source> {
      const { perilune: open, ioredis } = await builtLibrary()
      const client = new Redis(port)
      const library = open(ioredis(client))
      const cache = library.cache<Entry>(ways.cache, {
        freshFor: `${freshMs}ms`,
        staleFor: `${staleMs}ms`,
        ...(level === undefined ? {} : { inProcess: level }),
      })
      const options = tags.length === 0 ? undefined : { tags }
      return {
        get: (key, load) => cache.get(key, load, options),
        fill: (key, load, endsAtMs) =>
          cache.get(key, async (context) => {
            const value = await load()
            context.keep({ freshFor: `${leftMs(endsAtMs)}ms` })
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
