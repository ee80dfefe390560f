// Payloads that the codec of a handle cannot decode, stored by another version or another language.

import type { Codec } from 'perilune'
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

test.each([
  ['as it is', 'ad', {}],
  ['again, from what is known', 'ad', {}],
  ['with an edit', 'adq', { fuzzy: true }],
])('are returned with their suggestion and do not affect others (%s)', async (how, query, options) => {
  const { redis, name } = instance()
  const old = redis.autocomplete<string>(name, { codec: lax })
  await old.addMany([
    { text: 'ada', score: 2, payload: 'old' },
    { text: 'adam', score: 1, payload: 'new' },
    { text: 'adan', score: 0 },
  ] as never)
  const names = redis.autocomplete<string>(name, { codec: strict })
  if (how.startsWith('again')) await names.suggest(query)

  const found = await names.suggest(query, options)

  const undecodable = { bytes: Buffer.from('old'), error: new TypeError('what is that?') }
  expect(found.find(({ text }) => text === 'ada')).toMatchObject({ payload: null, undecodable })
  const adam = found.find(({ text }) => text === 'adam')
  expect(adam).toMatchObject({ payload: 'new' })
  expect(adam).not.toHaveProperty('undecodable')
})
