import type { Autocomplete } from 'perilune'
import type { Place, Step, Use, Work } from './use.ts'

/** As many as make prefixes hot. */
function entries(count: number): { text: string; score: number }[] {
  return Array.from({ length: count }, (_, at) => ({ text: `name ${at}x`, score: at }))
}

function steps({ redis, name }: Place): readonly Step[] {
  const index = redis.autocomplete<string>(name)
  const suggest = async (query: string): Promise<unknown> => index.suggest(query, { limit: 3, fuzzy: true })
  return [
    ['add', 'refuses', () => index.add('Ada Lovelace', { score: 1, payload: 'first' })],
    ['add', 'refuses', () => index.add('Ada Lovelace', { score: 2, payload: 'second', id: 'Ada Lovelace' })],
    ['suggest', 'serves', () => suggest('love')],
    ['find', 'serves', () => index.suggest('love', { limit: 3 })],
    ['add', 'refuses', () => index.addMany(entries(90))],
    ['add', 'refuses', () => index.add('brief', { ttl: '1ms' })],
    [
      'reap',
      'unasked',
      async () => {
        await index.addMany(
          Array.from({ length: 400 }, (_, at) => ({ text: `b${at}`, score: 9, ttl: '1s' as const })),
        )
        await index.add('bee')
        // Additions take what has expired before, too.
        await new Promise((resolve) => setTimeout(resolve, 1005))
        return suggest('b')
      },
    ],
    ['remove', 'serves', () => index.remove('name 7x')],
    ['remove', 'serves', () => index.removeMany(['name 8x', 'name 9x', 'absent'])],
    ['suggest', 'serves', () => suggest('naem 1')],
    ['inspect', 'serves', async () => (await index.inspect()).codec],
    // Whether there was something to forget, a repetition cannot know.
    ['clear', 'serves', async () => void (await index.clear())],
    ['suggest', 'serves', () => suggest('')],
  ]
}

function work(
  what: string,
  [commands, elements]: [number, number],
  call: (index: Autocomplete) => unknown,
): Work {
  const prepare: Work['prepare'] = async ({ redis, name }, size) => {
    const index = redis.autocomplete(name)
    await index.addMany(entries(Math.max(1000, size)))
    return async () => call(index)
  }
  return { what, commands, elements, prepare }
}

const works = [
  work('an addition', [60, 700], (index) => index.add('name again', { score: 5 })),
  work('a removal', [80, 2000], (index) => index.remove('name 5x')),
  // More than a plain read has for a hot prefix. How many leaves hold the first hundred depends on how they were cut.
  // With 100 places and as many records come the rests of the leaves, of at most 18 places each, and the fields that
  // name them.
  { ...work('a suggestion', [8, 290], (index) => index.suggest('n', { limit: 100 })), chance: 80 },
  work('a suggestion with an edit', [90, 520], (index) => index.suggest('nmae', { fuzzy: true })),
  work('a suggestion of what few match', [5, 1100], (index) => index.suggest('name 99x')),
]

export const use: Use = { steps, works }
