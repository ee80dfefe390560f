import type { Cache } from 'perilune'
import { errorOf, type Place, reaches, type Step, type Use, type Work } from './use.ts'

/** A load that ends when the test says so. */
interface Held {
  readonly got: Promise<string>
  end(result: string | Error): void
}

async function hold(cache: Cache<string>, key: string): Promise<Held> {
  let end: Held['end'] = () => undefined
  let began = false
  const got = cache.get(key, () => {
    began = true
    return new Promise((resolve, reject) => {
      end = (result) => (typeof result === 'string' ? resolve(result) : reject(result))
    })
  })
  await reaches(async () => began, got)
  return { got, end: (result) => end(result) }
}

/** A value that a process without an L1 stored. */
async function holdInLevel({ redis, name }: Place): Promise<void> {
  const cache = redis.cache<string>(`${name}-held`, { l1: { count: 10 } })
  await reaches(async () => {
    await cache.get('a', () => 'again')
    return cache.inspectL1()?.count === 1
  })
}

function steps(place: Place): readonly Step[] {
  const { redis, name } = place
  const cache = redis.cache<string>(name, { lease: '2s', ttl: '1h' })
  let held: Held | undefined
  let endsAtMs = 0
  const leaseEnd = async (): Promise<number> => (await cache.inspect('a')).load?.expiresAtMs ?? 0
  return [
    ['elect', 'unasked', async () => void (held = await hold(cache, 'a'))],
    ['inspect', 'serves', async () => (await cache.inspect('a')).state],
    [
      'extend',
      'serves',
      async () => {
        endsAtMs = await leaseEnd()
        await reaches(async () => (await leaseEnd()) > endsAtMs)
      },
    ],
    [
      'store',
      'unasked',
      async () => {
        held?.end('loaded')
        return held?.got
      },
    ],
    ['elect', 'unasked', async () => void (held = await hold(cache, 'b'))],
    [
      'fail',
      'serves',
      async () => {
        const failed = errorOf(held?.got ?? Promise.resolve())
        held?.end(new TypeError('no route'))
        return failed
      },
    ],
    ['elect', 'serves', async () => cache.get('b', () => 'b')],
    ['set', 'refuses', async () => (await cache.set('c', 'seven', { version: 7 })).stored],
    ['set', 'refuses', async () => (await cache.set('c', 'six', { version: 6 })).stored],
    ['inspect', 'serves', async () => (await cache.inspect('c')).version],
    ['invalidate-tag', 'refuses', async () => cache.invalidate({ tag: 't' })],
    // Whether there was something to forget, a repetition cannot know.
    ['invalidate', 'serves', async () => void (await cache.invalidate('c'))],
    ['inspect', 'serves', async () => (await cache.inspect('c')).state],
    [
      'hold',
      'unasked',
      async () => {
        await redis.cache<string>(`${name}-held`).set('a', 'a')
        await holdInLevel(place)
      },
    ],
  ]
}

/** A key is independent of the others; only the size of one value grows. */
function work(
  what: string,
  [commands, elements]: [number, number],
  call: (cache: Cache<string>, value: string) => Promise<unknown>,
): Work {
  const prepare: Work['prepare'] = async ({ redis, name }, size) => {
    const cache = redis.cache<string>(name)
    const value = 'x'.repeat(size)
    await cache.set('there', value)
    return async () => call(cache, value)
  }
  return { what, commands, elements, prepare }
}

const works: readonly Work[] = [
  work('a get of what is there', [6, 50], (cache) => cache.get('there', () => 'again')),
  work('a load', [12, 80], (cache, value) => cache.get('absent', () => value)),
  // Whether the hash already lasts long enough depends on the millisecond.
  { ...work('a set', [12, 80], (cache, value) => cache.set('there', value)), chance: 6 },
  work('an invalidation', [10, 60], (cache) => cache.invalidate('there')),
  work('an invalidation of a tag', [5, 25], (cache) => cache.invalidate({ tag: 't' })),
  {
    what: 'keeping a copy',
    commands: 8,
    elements: 60,
    prepare: async (place, size) => {
      await place.redis.cache<string>(`${place.name}-held`).set('a', 'x'.repeat(size))
      return () => holdInLevel(place)
    },
  },
  work('an inspection', [6, 40], (cache) => cache.inspect('there')),
]

export const use: Use = { steps, works }
