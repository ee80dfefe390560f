import { setTimeout as sleep } from 'node:timers/promises'
import { bytes, InvalidArgumentError, json as jsonCodec } from 'perilune'
import { expect, test } from 'vitest'
import { counted, setup } from '../../test/cache-fixture.ts'
import { gate } from '../../test/once-fixture.ts'

test('a value is loaded once and cached, and a hit runs no script', async () => {
  const { cache, calls } = await setup<{ name: string }>()
  const { load, runs } = counted(() => ({ name: 'Ada' }))
  await cache.get('a', load)
  const before = calls.length

  expect(await cache.get('a', load)).toEqual({ name: 'Ada' })
  expect(runs()).toBe(1)
  expect(calls.slice(before)).toEqual([])
})

test('a value is fresh, then stale while it is loaded again, then absent', async () => {
  const { cache, clock } = await setup<number>({ ttl: '1m', staleWhileRevalidate: '1m', early: false })
  const { load, runs } = counted((run) => run)
  await cache.get('a', load)

  await clock.advance(59_000)
  expect(await cache.get('a', load)).toBe(1)
  expect(runs()).toBe(1)
  await clock.advance(1000)
  expect(await cache.get('a', load)).toBe(1)
  await expect.poll(async () => (await cache.getEntry('a'))?.value).toBe(2)
  await clock.advance(120_000)
  expect(await cache.getEntry('a')).toBeNull()
  expect(await cache.get('a', load)).toBe(3)
})

test('a value is refreshed before it expires, by one process, while it is served', async () => {
  const { cache, clock, another } = await setup<number>({ ttl: '10s' })
  const slow = counted(async (run) => {
    await sleep(100)
    return run
  })
  await cache.get('a', slow.load)
  await clock.advance(9950)

  const others = [another().cache, another().cache, cache]
  expect(await Promise.all(others.map((each) => each.get('a', slow.load)))).toEqual([1, 1, 1])
  await expect.poll(async () => (await cache.getEntry('a'))?.value).toBe(2)

  expect(slow.runs()).toBe(2)
})

test('with early: xfetch a high beta refreshes a value long before it expires', async () => {
  const { cache, clock } = await setup<number>({ ttl: '10s', early: 'xfetch', beta: 100 })
  const slow = counted(async (run) => {
    await sleep(200)
    return run
  })
  await cache.get('a', slow.load)
  await clock.advance(5500)

  const reads = async (): Promise<number> => {
    await cache.get('a', slow.load)
    return slow.runs()
  }
  await expect.poll(reads).toBeGreaterThan(1)
})

test('a get waits for patience, and serves the stale value when the load takes longer', async () => {
  const { cache, clock } = await setup<number>({ ttl: '1m', staleWhileRevalidate: '1h', patience: '200ms' })
  await cache.get('a', () => 1)
  await clock.advance(60_000)

  expect(await cache.get('a', () => 2)).toBe(2)
  await clock.advance(60_000)
  const held = gate()
  expect(await cache.get('a', () => held.opened.then(() => 3))).toBe(2)
  held.open()
})

test('a get with patience waits no longer than its wait', async () => {
  const { cache, clock } = await setup<number>({ ttl: '1m', staleWhileRevalidate: '1h', patience: '1h' })
  await cache.get('a', () => 1)
  await clock.advance(60_000)
  const held = gate()

  expect(await cache.get('a', () => held.opened.then(() => 2), { wait: '50ms' })).toBe(1)
  held.open()
})

test('a missing value is cached as null or undefined, for negativeTtl', async () => {
  const { cache, clock } = await setup<string | null | undefined>({ negativeTtl: '5s' })
  const nothing = counted(() => undefined)
  await cache.get('a', nothing.load)
  await cache.get('b', () => null)

  expect(await cache.get('a', nothing.load)).toBeUndefined()
  expect(await cache.get('b', () => 'late')).toBeNull()
  expect(nothing.runs()).toBe(1)
  await clock.advance(5000)
  expect(await cache.get('a', () => 'there')).toBe('there')
})

test('with negativeTtl 0 a missing value is not cached', async () => {
  const { cache } = await setup<string | null>({ negativeTtl: '0s' })
  await cache.get('a', () => null)

  expect(await cache.get('a', () => 'there')).toBe('there')
})

test('a codec makes bytes, and another codec is rejected', async () => {
  const { cache, another } = await setup<Uint8Array>({ codec: bytes })
  await cache.get('a', () => new Uint8Array([0, 255, 128]))

  expect(Uint8Array.from(await cache.get('a', () => new Uint8Array()))).toEqual(new Uint8Array([0, 255, 128]))
  const json = another({}).cache
  await expect(json.get('a', () => new Uint8Array())).rejects.toThrow(InvalidArgumentError)
})

test('a codec may have a name of 64 bytes', async () => {
  const { another } = await setup<number>()
  const named = (name: string) => ({ codec: { ...jsonCodec<number>(), name } })
  const { cache } = another(named('x'.repeat(64)))

  expect(await cache.get('a', () => 1)).toBe(1)
  expect(() => another(named('x'.repeat(65)))).toThrow(/codec must have a name of at most 64 bytes/)
})

test('inspect returns what is known of a key', async () => {
  const { cache } = await setup<string>({ ttl: '1m', staleWhileRevalidate: '30s' })
  expect(await cache.inspect('a')).toMatchObject({ state: 'absent', bytes: 0, version: null, load: null })
  const held = gate()
  const loading = cache.get('a', () => held.opened.then(() => 'value'))
  await expect.poll(async () => (await cache.inspect('a')).load?.token).toBeGreaterThan(0)
  held.open()
  await loading

  const { createdAtMs, freshUntilMs, staleUntilMs, ...rest } = await cache.inspect('a')
  expect([(freshUntilMs ?? 0) - (createdAtMs ?? 0), (staleUntilMs ?? 0) - (freshUntilMs ?? 0)]).toEqual([
    60_000, 30_000,
  ])
  expect(rest).toMatchObject({
    state: 'fresh',
    bytes: 52,
    codec: 'json',
    negative: false,
    tags: [],
    load: null,
  })
})

test('jitter subtracts up to its part of the ttl, never more', async () => {
  const { cache } = await setup<number>({ ttl: '100s', jitter: 0.5 })
  const spans = await Promise.all(
    ['a', 'b', 'c'].map(async (key) => {
      await cache.get(key, () => 1)
      const { createdAtMs, freshUntilMs } = await cache.inspect(key)
      return (freshUntilMs ?? 0) - (createdAtMs ?? 0)
    }),
  )

  expect(Math.min(...spans)).toBeGreaterThanOrEqual(50_000)
  expect(Math.max(...spans)).toBeLessThanOrEqual(100_000)
  expect(new Set(spans).size).toBeGreaterThan(1)
})

test('bad arguments are rejected by name before anything is sent', async () => {
  const { cache, another, calls } = await setup<number>()
  const refused: [string, () => unknown][] = [
    ['key', () => cache.get('', () => 1)],
    ['loader', () => cache.get('a', 1 as never)],
    ['tags', () => cache.get('a', () => 1, { tags: 't' as never })],
    ['tag', () => cache.get('a', () => 1, { tags: [''] })],
    ['tag', () => cache.invalidate({ tag: 'x'.repeat(256) })],
    ['ttl', () => cache.get('a', () => 1, { ttl: '0s' })],
    ['version', () => cache.set('a', 1, { version: 0 })],
    ['value', () => cache.set('a', (() => 1) as never)],
    ['keys', () => cache.getMany('a' as never, () => new Map())],
    ['options.age', async () => another({ age: 5 } as never)],
    ['early', async () => another({ early: 'never' as never })],
    ['jitter', async () => another({ jitter: 0.6 })],
    ['localConcurrency', async () => another({ localConcurrency: 0 })],
  ]

  for (const [argument, call] of refused) {
    const error: unknown = await Promise.resolve()
      .then(call)
      .catch((thrown: unknown) => thrown)
    expect(error, argument).toBeInstanceOf(InvalidArgumentError)
    expect(error).toMatchObject({ argument })
  }
  expect(calls).toEqual([])
})
