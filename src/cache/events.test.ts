import { type CacheEvent, type CacheOptions, InvalidArgumentError } from 'perilune'
import { expect, test } from 'vitest'
import { type Setup, setup } from '../../test/cache-fixture.ts'
import { gate } from '../../test/once-fixture.ts'

interface Told extends Setup<string> {
  /** What was told since the last look. */
  told(): CacheEvent[]
}

async function told(options: CacheOptions<string> = {}): Promise<Told> {
  const events: CacheEvent[] = []
  const hooks = { event: (event: CacheEvent) => void events.push(event) }
  return { ...(await setup<string>({ ...options, hooks })), told: () => events.splice(0) }
}

const loadMs = expect.any(Number)

test('a hook is told of misses, loads and hits', async () => {
  const { cache, told: toldNow, clock } = await told({ ttl: '1m', staleWhileRevalidate: '1h' })

  await cache.get('a', () => 'a')
  expect(toldNow()).toEqual([
    { kind: 'absent', key: 'a' },
    { kind: 'loaded', key: 'a', loadMs, stored: true },
  ])

  await cache.get('a', () => 'again')
  expect(toldNow()).toEqual([{ kind: 'fresh', key: 'a', from: 'redis' }])

  await clock.advance(61_000)
  await cache.get('a', () => 'again')
  expect(toldNow()[0]).toEqual({ kind: 'stale', key: 'a', from: 'redis' })
})

test('a hook is told of each key of several', async () => {
  const { cache, told: toldNow } = await told()

  await cache.getMany(['a', 'b'], (keys) => new Map(keys.map((key) => [key, key])))

  const kinds = toldNow().map(({ kind, key }) => `${kind} ${key}`)
  expect(kinds.toSorted()).toEqual(['absent a', 'absent b', 'loaded a', 'loaded b'])
})

test('a hook is told of loads that failed, and of those that were refused', async () => {
  const { cache, told: toldNow, another } = await told()
  const error = new Error('no route')
  await cache.get('a', () => Promise.reject(error)).catch(() => undefined)
  expect(toldNow()).toContainEqual({ kind: 'failed', key: 'a', loadMs, error })

  const [began, held] = [gate(), gate()]
  const loading = cache.get('b', async () => {
    began.open()
    await held.opened
    return 'old'
  })
  await began.opened
  await another({}).cache.invalidate('b')
  held.open()
  await loading

  expect(toldNow()).toContainEqual({ kind: 'refused', key: 'b', loadMs, why: 'revoked' })
})

test('a hook is told when the loader answers without Redis', async () => {
  const { cache, told: toldNow, runtime } = await told()
  runtime.runner.driver.read = (calls) => calls.map(() => Promise.reject(new Error('gone')))
  await cache.get('a', () => 'a').catch(() => undefined)
  toldNow()

  const { ConnectionLostError } = await import('../driver.ts')
  runtime.runner.driver.read = (calls) =>
    calls.map(() => Promise.reject(new ConnectionLostError('gone', false)))
  expect(await cache.get('a', () => 'without')).toBe('without')

  expect(toldNow()).toEqual([{ kind: 'outage', key: 'a' }])
})

test('a hook must be a function', async () => {
  const { another } = await setup()

  expect(() => another({ hooks: { event: 'a' as never } })).toThrow(InvalidArgumentError)
})
