// The store of Keyv, asked by the real Keyv.

import { Keyv } from 'keyv'
import { text } from 'perilune'
import { type KeyvStoreOptions, keyvStore } from 'perilune/keyv'
import { expect, test } from 'vitest'
import { setup, unreachable } from './fixture.ts'

interface Stored {
  readonly keyv: Keyv
  /** Another Keyv on the same cache. */
  another(namespace: string): Keyv
  /** How long Redis keeps each of the values, in milliseconds. */
  lifetimes(): Promise<number[]>
}

function stored(options: KeyvStoreOptions = {}): Stored {
  const { redis, client, name } = setup()
  const another = (namespace: string): Keyv =>
    new Keyv(keyvStore(redis.cache<string>(name, { codec: text }), options), { namespace })
  return {
    keyv: another('sessions'),
    another,
    lifetimes: async () => {
      const keys = await client.keys(`stores-test:{cache:${name}:*:value`)
      return Promise.all(keys.map((key) => client.pttl(key)))
    },
  }
}

test('values of any JSON round-trip, and a missing value is undefined', async () => {
  const { keyv } = stored()
  const values = [false, 0, '', null, undefined, "it's", '"', { deep: [1, { b: Buffer.from('bytes') }] }]

  for (const [at, value] of values.entries()) expect(await keyv.set(`k${at}`, value)).toBe(true)

  for (const [at, value] of values.entries()) expect(await keyv.get(`k${at}`)).toEqual(value)
  expect(await keyv.get('nothing')).toBe(undefined)
  expect(await keyv.get(['k1', 'nothing', 'k3'])).toEqual([0, undefined, null])
  expect(await keyv.has('k3')).toBe(true)
  expect(await keyv.has(['nothing', 'k0'])).toEqual([false, true])
})

test('objects are kept as they are when Keyv is configured not to serialise them', async () => {
  const { redis, name } = setup()
  const keyv = new Keyv({ store: keyvStore(redis.cache(name)) })
  keyv.serialize = undefined as never
  keyv.deserialize = undefined as never

  await keyv.set('a', { b: [1] }, 60_000)

  expect(await keyv.get('a')).toEqual({ b: [1] })
  expect((await keyv.get('a', { raw: true }))?.expires).toBeGreaterThan(0)
})

test('a TTL is in milliseconds, and Redis forgets the value after it', async () => {
  const { keyv, lifetimes } = stored()

  await keyv.set('a', 1, 90_000)

  const [lifetime = 0] = await lifetimes()
  expect(lifetime).toBeGreaterThan(60_000)
  expect(lifetime).toBeLessThanOrEqual(95_000)
  await keyv.set('soon', 1, 20)
  await expect.poll(() => keyv.get('soon')).toBe(undefined)
  expect(await keyv.has('soon')).toBe(false)
  await keyv.set('a', 1, -5)
  expect(await keyv.get('a')).toBe(undefined)
})

test('without a TTL, or with one that is too long, a value is kept as long as possible, or as configured', async () => {
  const days = (ms: number): number => Math.round(ms / 86_400_000)
  const plain = stored()
  await plain.keyv.set('a', 1)
  await plain.keyv.set('b', 1, 0)
  await plain.keyv.set('c', 1, 1e12)
  expect((await plain.lifetimes()).map(days)).toEqual([25, 25, 25])

  const limited = stored({ ttl: '2d' })
  await limited.keyv.set('a', 1)
  expect((await limited.lifetimes()).map(days)).toEqual([2])
  expect(() => stored({ ttl: '26d' })).toThrow('ttl')
})

test('delete returns whether a key was there, or at least one of several', async () => {
  const { keyv } = stored()
  await keyv.setMany([
    { key: 'a', value: 1 },
    { key: 'b', value: 2, ttl: 60_000 },
  ])

  expect(await keyv.delete('nothing')).toBe(false)
  expect(await keyv.delete('a')).toBe(true)
  expect(await keyv.delete('a')).toBe(false)
  expect(await keyv.delete(['a', 'b'])).toBe(true)
  expect(await keyv.delete(['a', 'b'])).toBe(false)
  expect(await keyv.get('b')).toBe(undefined)
})

test('delete returns false for a value that was cleared, or has expired', async () => {
  const { keyv } = stored()
  await keyv.set('cleared', 1)
  await keyv.clear()
  await keyv.set('expired', 1, 20)
  await expect.poll(() => keyv.has('expired')).toBe(false)

  expect(await keyv.delete('cleared')).toBe(false)
  expect(await keyv.delete('expired')).toBe(false)
  expect(await keyv.delete(['cleared', 'expired'])).toBe(false)
})

test('more keys than a cache takes at once are deleted', async () => {
  const { keyv } = stored()
  const keys = Array.from({ length: 1500 }, (_, n) => `k${n}`)
  expect(await keyv.setMany(keys.map((key) => ({ key, value: key })))).toEqual(keys.map(() => true))

  expect(await keyv.delete(keys)).toBe(true)

  expect(await keyv.getMany(keys)).toEqual(keys.map(() => undefined))
})

test('a namespace is cleared, and another one stays', async () => {
  const { keyv, another } = stored()
  const other = another('other')
  await keyv.set('a', 1)
  await other.set('a', 2)

  expect(await keyv.clear()).toBe(undefined)

  expect([await keyv.get('a'), await keyv.has('a'), await other.get('a')]).toEqual([undefined, false, 2])
  await keyv.set('a', 3)
  expect(await keyv.get('a')).toBe(3)
})

test('keys that a cache could not accept are kept under their hash', async () => {
  const { keyv } = stored()
  const keys = ['x'.repeat(2000), 'a\nb', '\ud800', `${'x'.repeat(1999)}y`]

  for (const [at, key] of keys.entries()) await keyv.set(key, at)

  expect(await keyv.getMany(keys)).toEqual([0, 1, 2, 3])
  expect(await keyv.delete(keys[0] ?? '')).toBe(true)
  expect(await keyv.getMany(keys)).toEqual([undefined, 1, 2, 3])
})

test('while Redis is away nothing is found, nothing is set, and both are reported', async () => {
  const errors: string[] = []
  const keyv = new Keyv(keyvStore(unreachable().cache<string>('c', { codec: text, storeWithin: '100ms' })))
  keyv.on('error', (error: Error) => errors.push(error.message))

  expect(await keyv.get('a')).toBe(undefined)
  expect(await keyv.set('a', 1)).toBe(false)
  expect(await keyv.delete('a')).toBe(false)
  expect(errors).toHaveLength(3)
})

const askedOfAway: [call: string, ask: (keyv: Keyv) => Promise<unknown>, found: unknown][] = [
  ['get of several', (keyv) => keyv.get(['a', 'b']), [undefined, undefined]],
  ['getMany', (keyv) => keyv.getMany(['a', 'b']), [undefined, undefined]],
  ['has', (keyv) => keyv.has('a'), false],
  ['hasMany', (keyv) => keyv.hasMany(['a', 'b']), [false, false]],
]
test.each(askedOfAway)('while Redis is away %s finds nothing, and reports it once', async (_, ask, found) => {
  const errors: string[] = []
  const keyv = new Keyv(keyvStore(unreachable().cache<string>('c', { codec: text, storeWithin: '100ms' })))
  keyv.on('error', (error: Error) => errors.push(error.message))

  expect(await ask(keyv)).toEqual(found)
  expect(errors).toHaveLength(1)
})
