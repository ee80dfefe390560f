import { InvalidArgumentError } from 'perilune'
import { expect, test } from 'vitest'
import { instance } from '../../test/instance.ts'

test('a document of a mebibyte is stored, and a larger one is rejected before anything is sent', async () => {
  const { redis, name, calls } = instance()
  const catalog = redis.catalog<string>(name)
  // JSON adds two quotes.
  const largest = 'x'.repeat(1024 * 1024 - 2)
  await catalog.put('a', largest)
  calls.length = 0

  await expect(catalog.put('b', `${largest}x`)).rejects.toThrow(InvalidArgumentError)
  await expect(catalog.update('a', (document) => `${document}x`)).rejects.toThrow(/^document must be JSON/)

  expect(calls).toEqual(['catalog/get'])
  expect(await catalog.get('a')).toBe(largest)
})

test('a change that conflicts with another is made again on the newer document', async () => {
  const { redis, name } = instance()
  const catalog = redis.catalog<number[]>(name)
  await catalog.put('a', [])
  const numbers = Array.from({ length: 10 }, (_, at) => at)

  await Promise.all(numbers.map((number) => catalog.update('a', (document) => [...document, number])))

  expect((await catalog.get('a'))?.toSorted()).toEqual(numbers)
  expect(await catalog.update('b', (document) => document)).toBeNull()
})

test('a page holds as many names as its limit, and one may be the limit', async () => {
  const { redis, name } = instance()
  const catalog = redis.catalog<number>(name)
  for (const [at, each] of ['a', 'b', 'c'].entries()) await catalog.put(each, at)

  const first = await catalog.list({ limit: 1 })

  expect(first).toEqual({ entries: [{ name: 'a', document: 0 }], total: 3, more: true })
  expect((await catalog.list({ after: 'a' })).entries.map((entry) => entry.name)).toEqual(['b', 'c'])
  await expect(catalog.list({ limit: 0 })).rejects.toThrow(InvalidArgumentError)
})

test('a page ends when its documents reach a megabyte, and the next one continues there', async () => {
  const { redis, name } = instance()
  const catalog = redis.catalog<string>(name)
  const names = Array.from({ length: 50 }, (_, at) => `n${at + 10}`)
  for (const each of names) await catalog.put(each, 'x'.repeat(64 * 1024))

  const first = await catalog.list({ limit: 50 })
  const last = first.entries.at(-1)?.name ?? ''
  const second = await catalog.list({ limit: 50, after: last })

  expect([first.entries.length, first.more, first.total]).toEqual([20, true, 50])
  expect(second.entries[0]?.name).toBe('n30')
  expect((await catalog.list({ limit: 1 })).entries).toHaveLength(1)
})
