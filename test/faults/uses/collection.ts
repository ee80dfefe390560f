import type { Collection } from 'perilune'
import type { Place, Step, Use, Work } from './use.ts'

const upTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at)

/** A reader's view of it, without times. */
async function seen<Item, Key>(collection: Collection<Item, Key>): Promise<unknown> {
  const page = await collection.read({ limit: 1000 })
  if (page.status !== 'page') return page
  const { items, size, version } = page
  return { items, size, version }
}

function steps({ redis, name }: Place): readonly Step[] {
  const list = redis.collection<number>(`${name} list`, { kind: 'list', limit: 2000 })
  const set = redis.collection<string>(`${name} set`, { kind: 'set' })
  const status = async (call: Promise<{ status: string }>): Promise<string> => (await call).status
  return [
    ['replace', 'refuses', () => status(list.replace([1, 2, 3]))],
    ['read', 'serves', () => seen(list)],
    ['replace', 'refuses', () => status(list.replace([1, 2], { version: 1 }))],
    ['replace', 'serves', () => status(list.replace([9], { version: 1 }))],
    ['replace', 'serves', () => list.replace([9], { version: 0 })],
    ['build', 'refuses', () => status(list.replace(upTo(1500), { version: 2 }))],
    ['switch-in', 'refuses', () => status(list.replace(upTo(1200), { version: 3 }))],
    ['read', 'serves', () => seen(list)],
    ['add', 'refuses', () => list.append(upTo(900))],
    ['add', 'refuses', () => list.append([7])],
    ['read', 'serves', () => seen(list)],
    ['replace', 'refuses', () => status(set.replace(['a', 'b']))],
    ['add', 'refuses', () => set.add(['b', 'c'])],
    ['remove', 'serves', () => set.remove(['a', 'b'])],
    ['read', 'serves', () => seen(set)],
    ['inspect', 'serves', async () => (await list.inspect()).exists],
    // Whether there was something to forget, a repetition cannot know.
    ['clear', 'serves', async () => void (await set.clear())],
    ['read', 'serves', () => seen(set)],
  ]
}

/** Existing content makes no call more expensive, except for what is built or read of it. */
function work(
  what: string,
  [commands, elements]: [number, number],
  call: (place: Place) => Promise<unknown>,
): Work {
  const prepare: Work['prepare'] = async (place, size) => {
    const { redis, name } = place
    await redis.collection<number>(`${name} list`, { kind: 'list' }).replace(upTo(size))
    await redis
      .collection<number>(`${name} ranked`, { kind: 'sortedSet' })
      .replace(upTo(size).map((n) => [n, n]))
    return async () => call(place)
  }
  return { what, commands, elements, prepare }
}

const listOf = ({ redis, name }: Place, limit?: number) =>
  redis.collection<number>(`${name} list`, { kind: 'list', ...(limit === undefined ? {} : { limit }) })
const rankedOf = ({ redis, name }: Place) => redis.collection<number>(`${name} ranked`, { kind: 'sortedSet' })

const works = [
  work('a replace', [15, 90], (place) => listOf(place).replace([1])),
  work('a large replace', [15, 1100], (place) => listOf(place).replace(upTo(1500))),
  work('an append', [15, 90], (place) => listOf(place).append([1])),
  work('an append to far too many', [15, 90], (place) => listOf(place, 1).append([1])),
  work('an addition by score', [15, 90], (place) => rankedOf(place).add([[-1, 5]])),
  work('a removal', [15, 90], (place) => rankedOf(place).remove([1])),
  work('a page', [6, 60], (place) => listOf(place).read({ limit: 10 })),
  work('a page by score', [6, 80], (place) => rankedOf(place).read({ limit: 10 })),
  work('an inspection', [6, 40], (place) => listOf(place).inspect()),
  work('a clear', [4, 20], (place) => listOf(place).clear()),
]

export const use: Use = { steps, works }
