// A module that the last release has written, on this library.

import { expect, test } from 'vitest'
import { instance } from '../instance.ts'
import { preload, visits } from './redis.ts'

test('a module of the last release runs on this library', async () => {
  const { redis, name } = instance()
  await preload(redis)

  await visits(redis, name).addUp({ weight: 1, visits: [{ place: 'lake', times: 2 }] })
  expect(await visits(redis, name).addUp({ weight: 1, visits: [] })).toMatchObject({ total: 2 })
})

test('all that modules may import is there', async () => {
  const scripts: object = await import('perilune/scripts')

  expect(Object.keys(scripts)).toEqual(
    expect.arrayContaining(
      'asBigint asBytes asFlag asInteger asList asNumber asText openUnit preloadScripts unexpected withoutDefaults'.split(
        ' ',
      ),
    ),
  )
})
