// Items that the codec of a handle cannot decode, stored by another version or another language.

import type { CollectionKind, Codec } from 'perilune'
import { expect, test } from 'vitest'
import { instance } from '../../test/instance.ts'

const lax: Codec<string> = { name: 'text', encode: (value) => value, decode: (bytes) => bytes.toString() }
const strict: Codec<string> = {
  ...lax,
  decode: (bytes) => {
    if (bytes.toString() === 'old') throw new TypeError('what is that?')
    return bytes.toString()
  },
}

const kinds: [kind: CollectionKind, stored: unknown[], items: unknown[], where: object][] = [
  ['list', ['a', 'old', 'b'], ['a', 'b'], {}],
  ['set', ['a', 'old'], ['a'], {}],
  [
    'hash',
    [
      ['x', 'a'],
      ['y', 'old'],
    ],
    [['x', 'a']],
    { field: 'y' },
  ],
  [
    'sortedSet',
    [
      ['a', 1],
      ['old', 2.5],
    ],
    [['a', 1]],
    { score: 2.5 },
  ],
]

test.each(kinds)('are returned next to the other items of a %s', async (kind, stored, items, where) => {
  const { redis, name } = instance()
  const old = redis.collection<string>(name, { kind, codec: lax })
  await old.replace(stored as never)

  const page = await redis.collection<string>(name, { kind, codec: strict }).read()

  const bytes = Buffer.from('old')
  expect(page).toMatchObject({ status: 'page', items, size: stored.length, next: null })
  expect(page).toMatchObject({ undecodable: [{ bytes, error: new TypeError('what is that?'), ...where }] })
  expect(await old.read()).toMatchObject({ undecodable: [] })
})
