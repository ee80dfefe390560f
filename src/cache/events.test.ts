import { type CacheEvent, type CacheOptions, InvalidArgumentError } from 'perilune'
import { expect, test } from 'vitest'
import { type Setup, setup } from '../../test/cache-fixture.ts'
import { gate } from '../../test/once-fixture.ts'

interface Observed extends Setup<string> {
  /** The events since the last call. */
  newEvents(): CacheEvent[]
}

async function observed(options: CacheOptions<string> = {}): Promise<Observed> {
  const events: CacheEvent[] = []
  const hooks = { event: (event: CacheEvent) => void events.push(event) }
  return { ...(await setup<string>({ ...options, hooks })), newEvents: () => events.splice(0) }
}

const loadMs = expect.any(Number)

test('a hook is called for misses, loads and hits', async () => {
  const { cache, newEvents, clock } = await observed({ ttl: '1m', staleWhileRevalidate: '1h' })

  await cache.get('a', () => 'a')
  expect(newEvents()).toEqual([
    { kind: 'absent', key: 'a' },
    { kind: 'loaded', key: 'a', loadMs, stored: true },
  ])

  await cache.get('a', () => 'again')
  expect(newEvents()).toEqual([{ kind: 'fresh', key: 'a', from: 'redis' }])

  await clock.advance(61_000)
  await cache.get('a', () => 'again')
  expect(newEvents()[0]).toEqual({ kind: 'stale', key: 'a', from: 'redis' })
})

test('a hook is called for each key of several', async () => {
  const { cache, newEvents } = await observed()

  await cache.getMany(['a', 'b'], (keys) => new Map(keys.map((key) => [key, key])))

  const kinds = newEvents().map(({ kind, key }) => `${kind} ${key}`)
  expect(kinds.toSorted()).toEqual(['absent a', 'absent b', 'loaded a', 'loaded b'])
})

test('a hook is called for failed loads and for refused values', async () => {
  const { cache, newEvents, another } = await observed()
  const error = new Error('no route')
  await cache.get('a', () => Promise.reject(error)).catch(() => undefined)
  expect(newEvents()).toContainEqual({ kind: 'failed', key: 'a', loadMs, error })

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

  expect(newEvents()).toContainEqual({ kind: 'refused', key: 'b', loadMs, why: 'revoked' })
})

test('a hook is called when the loader answers without Redis', async () => {
  const { cache, newEvents, runtime } = await observed()
  runtime.runner.driver.read = (calls) => calls.map(() => Promise.reject(new Error('gone')))
  await cache.get('a', () => 'a').catch(() => undefined)
  newEvents()

  const { ConnectionLostError } = await import('../driver.ts')
  runtime.runner.driver.read = (calls) =>
    calls.map(() => Promise.reject(new ConnectionLostError('gone', false)))
  expect(await cache.get('a', () => 'without')).toBe('without')

  expect(newEvents()).toEqual([{ kind: 'outage', key: 'a' }])
})

test('a hook must be a function', async () => {
  const { another } = await setup()

  expect(() => another({ hooks: { event: 'a' as never } })).toThrow(InvalidArgumentError)
})
