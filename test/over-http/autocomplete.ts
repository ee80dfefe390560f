// Autocomplete: entries that are added, replaced and removed, and what is suggested.

import type { NewEntry } from 'perilune'
import { done } from './outcome.ts'
import type { Part, Sides } from './sides.ts'

const TEXTS = ['Reykjavík', 'Reykholt', 'Rey', 'Oslo', 'Old Oslo', 'São Paulo', 'Rio de Janeiro', 'Rio']
const QUERIES = ['', 'r', 'rey', 'REYK', 'os', 'rei', 'old o', 'sao', 'xyz', 'janeiro r']
const IDS = ['a', 'b/c', 'é']

export function autocompletePart(sides: Sides): Part {
  const url = `/autocomplete/${sides.name}`
  return {
    steps: [
      () => add(sides, url),
      () => add(sides, url),
      () => add(sides, url),
      () => addWrongly(sides, url),
      () => remove(sides, url),
      () => remove(sides, url),
      () => clear(sides, url),
    ],
    looks: [() => suggest(sides, url), () => suggest(sides, url), () => inspect(sides, url)],
    contents: async (redis, called) => {
      const index = redis.autocomplete(called)
      const asked = ['', ...QUERIES].map((query) => index.suggest(query, { limit: 100, fuzzy: true }))
      return [await index.inspect(), await Promise.all(asked)]
    },
  }
}

function drawEntry({ dice }: Sides): NewEntry<unknown> {
  return {
    text: dice.oneOf(TEXTS),
    ...(dice.chance(0.4) && { id: dice.oneOf(IDS) }),
    ...(dice.chance(0.7) && { score: dice.upTo(99) - 20 }),
    ...(dice.chance(0.4) && { payload: dice.oneOf([1, null, { country: 'IS' }, 'x']) }),
    ...(dice.chance(0.2) && { ttl: '1h' as const }),
  }
}

async function add(sides: Sides, url: string): Promise<void> {
  const entries = Array.from({ length: 1 + sides.dice.upTo(4) }, () => drawEntry(sides))
  await sides.same(
    `add ${JSON.stringify(entries)}`,
    () => sides.redis.autocomplete(sides.name).addMany(entries),
    () => sides.http.post(`${url}/entries`, { entries }),
  )
}

async function addWrongly(sides: Sides, url: string): Promise<void> {
  const wrong = sides.dice.oneOf([
    { text: '' },
    { text: 'x'.repeat(600) },
    { text: 'a', score: 1.5 },
    { text: 'a', score: 2 ** 53 },
    { text: 'a', ttl: '0s' },
    { text: 'a', id: '' },
    { text: 'a', payload: 'x'.repeat(17_000) },
    { text: '!' },
  ])
  const entries = [{ text: 'Oslo' }, wrong]
  await sides.same(
    `add ${JSON.stringify(wrong).slice(0, 60)}`,
    () => sides.redis.autocomplete(sides.name).addMany(entries as NewEntry<unknown>[]),
    () => sides.http.post(`${url}/entries`, { entries }),
  )
}

async function remove(sides: Sides, url: string): Promise<void> {
  const id = sides.dice.oneOf([...TEXTS, ...IDS])
  await sides.same(
    `remove ${id}`,
    async () => done(await sides.redis.autocomplete(sides.name).remove(id)),
    () => sides.http.delete(`${url}/entries/${encodeURIComponent(id)}`),
  )
}

async function suggest(sides: Sides, url: string): Promise<void> {
  const query = sides.dice.oneOf(QUERIES)
  const options = { limit: sides.dice.oneOf([1, 3, 100, 0, 101]), fuzzy: sides.dice.chance(0.5) }
  await sides.same(
    `suggest '${query}' ${JSON.stringify(options)}`,
    async () => ({ suggestions: await sides.redis.autocomplete(sides.name).suggest(query, options) }),
    () => sides.http.get(`${url}/suggestions`, { query, ...options }),
  )
}

async function inspect(sides: Sides, url: string): Promise<void> {
  await sides.same(
    'inspect',
    async () => ({ name: sides.name, ...(await sides.redis.autocomplete(sides.name).inspect()) }),
    () => sides.http.get(url),
  )
}

async function clear(sides: Sides, url: string): Promise<void> {
  if (!sides.dice.chance(0.3)) return
  await sides.same(
    'clear',
    async () => void (await sides.redis.autocomplete(sides.name).clear()),
    () => sides.http.delete(url),
  )
}
