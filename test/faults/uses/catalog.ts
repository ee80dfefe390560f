import type { Catalog } from 'perilune'
import type { Place, Step, Use, Work } from './use.ts'

interface Note {
  n: number
}

// `put` and `remove` return whether they changed something; after a lost answer they return it for the repetition.
function steps({ redis, name }: Place): readonly Step[] {
  const catalog = redis.catalog<Note>(name)
  return [
    ['put', 'refuses', async () => void (await catalog.put('a', { n: 1 }))],
    ['put', 'refuses', async () => void (await catalog.put('b', { n: 2 }))],
    ['put', 'serves', async () => catalog.put('a', { n: 9 })],
    ['get', 'serves', async () => catalog.get('a')],
    ['replace', 'serves', async () => catalog.update('a', ({ n }) => ({ n: n + 1 }))],
    ['replace', 'refuses', async () => catalog.update('a', () => ({ n: 1, large: 'x'.repeat(9000) }))],
    ['replace', 'serves', async () => catalog.update('a', () => ({ n: 2, large: 'y'.repeat(8999) }))],
    ['list', 'serves', async () => catalog.list()],
    ['remove', 'serves', async () => void (await catalog.remove('b'))],
    ['list', 'serves', async () => catalog.list()],
  ]
}

async function filled({ redis, client, namespace, name }: Place, size: number): Promise<Catalog<Note>> {
  const catalog = redis.catalog<Note>(name)
  await catalog.put('a', { n: 1 })
  const prefix = `${namespace}:{catalog:${name}}`
  for (let from = 0; from < size; from += 1000) {
    const names = Array.from({ length: Math.min(1000, size - from) }, (_, at) => `name ${from + at}`)
    await client.zadd(`${prefix}:names`, ...names.flatMap((each) => [0, each]))
    await client.hset(`${prefix}:documents`, ...names.flatMap((each) => [each, '1 {"n":0}']))
  }
  return catalog
}

function work(
  what: string,
  [commands, elements]: [number, number],
  call: (of: Catalog<Note>) => unknown,
): Work {
  const prepare: Work['prepare'] = async (place, size) => {
    const catalog = await filled(place, size)
    return async () => call(catalog)
  }
  return { what, commands, elements, prepare }
}

const works = [
  work('a put', [8, 30], (catalog) => catalog.put('one more', { n: 1 })),
  work('a get', [4, 12], (catalog) => catalog.get('name 500')),
  work('an update', [8, 40], (catalog) => catalog.update('a', () => ({ n: 5 }))),
  work('a list of twenty', [6, 80], (catalog) => catalog.list({ after: 'name 5' })),
  work('a removal', [6, 20], (catalog) => catalog.remove('name 700')),
]

export const use: Use = { steps, works }
