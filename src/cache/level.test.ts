import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { bytes, type CacheEvent, type CacheOptions, InvalidArgumentError, jsonText } from 'perilune'
import { expect, inject, onTestFinished, test } from 'vitest'
import { type Process, type Setup, setup } from '../../test/cache-fixture.ts'
import { instance } from '../../test/instance.ts'
import { gate } from '../../test/once-fixture.ts'
import type { Listener } from '../driver.ts'

interface Leveled extends Setup<string> {
  readonly events: CacheEvent[]
  /** Gets `a` until that needs no Redis. */
  keep(tags?: readonly string[]): Promise<void>
}

const HOUR = { count: 100, age: '1h' } as const

async function leveled(options: CacheOptions<string> & { clock?: 'real' } = {}): Promise<Leveled> {
  const events: CacheEvent[] = []
  const hooks = { event: (event: CacheEvent) => void events.push(event) }
  const made = await setup<string>({ ttl: '1h', early: false, l1: HOUR, hooks, ...options })
  const keep = (tags: readonly string[] = []): Promise<void> => kept(made.cache, events, tags)
  return { ...made, events, keep }
}

async function kept(
  cache: Setup<string>['cache'],
  events: readonly CacheEvent[],
  tags: readonly string[] = [],
): Promise<void> {
  const before = events.length
  const isServed = async (): Promise<boolean> => {
    await cache.get('a', () => 'loaded', { tags })
    return events.slice(before).some((event) => 'from' in event && event.from === 'process')
  }
  await expect.poll(isServed).toBe(true)
}

/** A process without an L1. */
function plain({ another }: Setup<string>): Process<string> {
  return another({ ttl: '1h' })
}

/** From now on every listener of this process is wrapped by `how`. */
function tampered({ runtime }: Process<string>, how: (listener: Listener) => Listener): void {
  const { driver } = runtime.runner
  const subscribe = driver.subscribe.bind(driver)
  driver.subscribe = (channel, listener) => subscribe(channel, how(listener))
}

test('a copy is served without Redis', async () => {
  const { cache, keep, runtime } = await leveled()
  await keep()
  const { driver } = runtime.runner
  const reads: unknown[] = []
  const read = driver.read.bind(driver)
  driver.read = (calls) => {
    reads.push(...calls.flatMap(({ args }) => args).filter((key) => String(key).endsWith(':value')))
    return read(calls)
  }

  const values = await Promise.all(Array.from({ length: 10 }, () => cache.get('a', () => 'again')))

  expect(new Set(values)).toEqual(new Set(['loaded']))
  expect(reads).toEqual([])
})

test('each get gets its own object, which it may change', async () => {
  const made = await setup<{ n: number }>({ l1: HOUR })
  const get = (): Promise<{ n: number }> => made.cache.get('a', () => ({ n: 1 }))
  await expect.poll(async () => (await get()) && made.cache.inspectL1()?.count).toBe(1)

  const first = await get()
  first.n = 2

  expect(await get()).toEqual({ n: 1 })
})

test.each(['set', 'invalidate', 'load'] as const)(
  'one %s of a process without an L1 invalidates the copies of others',
  async (what) => {
    const made = await leveled()
    const { cache, keep, clock } = made
    const other = plain(made).cache
    await other.set('a', 'old', { ttl: '1s', staleWhileRevalidate: '1h' })
    await keep()

    if (what === 'set') await other.set('a', 'new')
    else if (what === 'invalidate') await other.invalidate('a')
    else {
      await clock.advance(2000)
      await other.get('a', () => 'new')
    }

    await expect.poll(() => cache.inspectL1()?.count).toBe(0)
    expect(await cache.get('a', () => 'new')).toBe('new')
  },
)

test('an invalidated tag invalidates the copies of others', async () => {
  const made = await leveled()
  const tags = ['t', 'b']
  await made.keep(tags)

  await plain(made).cache.invalidate({ tag: 't' })

  await expect.poll(() => made.cache.get('a', () => 'new', { tags }), { timeout: 5000 }).toBe('new')
})

test('a clear by another process invalidates copies in constant use', async () => {
  const made = await leveled({ clock: 'real' })
  const { cache, keep } = made
  await keep()
  let isCleared = false
  const clearing = plain(made)
    .cache.clear()
    .then(() => (isCleared = true))

  // With pauses: L1 hits alone would block the event loop.
  while (!isCleared) await cache.get('a', () => 'new').then(() => sleep(1))
  await clearing

  expect(await cache.get('a', () => 'new')).toBe('new')
})

test('a copy is served only to a get with the tags of the value', async () => {
  const made = await leveled()
  await made.keep(['t'])

  expect(await made.cache.get('a', () => 'without')).toBe('without')
})

test.each(['set', 'complete', 'invalidate', 'tag', 'clear'] as const)(
  'after its own %s a process never serves its earlier copy, whatever messages arrive',
  async (what) => {
    const made = await leveled(
      what === 'complete' ? { ttl: '1m', staleWhileRevalidate: '1h' } : { clock: 'real' },
    )
    tampered(made, (listener) => ({ ...listener, onMessage: () => undefined }))
    const { cache, keep } = made
    const tags = what === 'tag' ? ['t'] : []
    await keep(tags)

    if (what === 'set') await cache.set('a', 'new')
    else if (what === 'complete') await completeStale(made)
    else if (what === 'clear') await cache.clear()
    else await cache.invalidate(what === 'tag' ? { tag: 't' } : 'a')

    expect(await cache.get('a', () => 'new', { tags })).toBe('new')
  },
)

/** A detached load replaces a value that is served meanwhile. */
async function completeStale({ cache, clock }: Setup<string>): Promise<void> {
  await clock.advance(60_000)
  const load = await cache.loadDetached('a')
  await cache.byToken.complete('a', load.status === 'elected' ? load.load : '', 'new')
}

test('another handle of the same name invalidates the copies too', async () => {
  const made = await leveled({ clock: 'real' })
  tampered(made, (listener) => ({ ...listener, onMessage: () => undefined }))
  await made.keep()
  const { Cache } = await import('./cache.ts')
  const handle = new Cache<string>(made.runtime, made.name)

  await handle.invalidate('a')

  expect(await made.cache.get('a', () => 'new')).toBe('new')
})

/** Delays the next read of a value until the gate opens. */
function lateRead({ runtime }: Process<string>): { readonly sent: Promise<unknown>; end(): void } {
  const [sent, held] = [gate(), gate()]
  const { driver } = runtime.runner
  const read = driver.read.bind(driver)
  driver.read = (calls) => {
    const replies = read(calls)
    if (!calls.some(({ args }) => String(args[0]).endsWith(':value'))) return replies
    driver.read = read
    void Promise.allSettled(replies).then(() => sent.open())
    return replies.map(async (reply) => {
      await held.opened
      return reply
    })
  }
  return { sent: sent.opened, end: () => held.open() }
}

test.each(['another process', 'this process'])(
  'a read that began before an invalidation by %s is not kept after it',
  async (who) => {
    const made = await leveled()
    const { cache, keep, runtime } = made
    if (who === 'this process') tampered(made, (listener) => ({ ...listener, onMessage: () => undefined }))
    await keep()
    const other = plain(made).cache
    const messages: string[] = []
    if (who === 'another process') {
      const witness = await runtime.runner.driver.subscribe('cache-test:{cache:}:wake:levels', {
        onMessage: (message) => void (message.includes(made.name) && messages.push(message)),
        onGap: () => undefined,
      })
      onTestFinished(() => witness.close())
    }
    await cache.set('a', 'held')
    if (who === 'another process') await expect.poll(() => messages.length).toBe(1)
    const late = lateRead(made)
    const reading = cache.get('a', () => 'never')
    await late.sent

    if (who === 'this process') await cache.invalidate('a')
    else {
      await other.invalidate('a')
      await expect.poll(() => messages.length).toBe(2)
    }
    late.end()

    expect(await reading).toBe('held')
    expect(await cache.get('a', () => 'new')).toBe('new')
  },
)

test('after a lost message a copy is served no longer than its age', async () => {
  const made = await leveled({ clock: 'real', l1: { count: 10, age: '300ms' } })
  tampered(made, (listener) => ({ ...listener, onMessage: () => undefined }))
  await made.keep()

  await plain(made).cache.set('a', 'new')

  await expect.poll(() => made.cache.get('a', () => 'again'), { timeout: 5000 }).toBe('new')
})

test('without its subscription the L1 is empty and unused', async () => {
  const made = await leveled()
  const ears: Listener[] = []
  let refuses = false
  const { driver } = made.runtime.runner
  const subscribe = driver.subscribe.bind(driver)
  driver.subscribe = async (channel, listener) => {
    if (refuses) throw new Error('no subscription')
    ears.push(listener)
    return subscribe(channel, listener)
  }
  await made.keep()
  expect(made.cache.inspectL1()?.count).toBe(1)

  refuses = true
  for (const ear of ears) ear.onLost?.()
  expect(made.cache.inspectL1()).toEqual({ count: 0, bytes: 0 })
  const from = made.events.length
  for (let n = 0; n < 5; n++) await made.cache.get('a', () => 'again')
  expect(made.events.slice(from)).toEqual(
    Array.from({ length: 5 }, () => ({ kind: 'fresh', key: 'a', from: 'redis' })),
  )

  refuses = false
  await expect
    .poll(async () => (await made.keep()) ?? made.cache.inspectL1()?.count, { timeout: 5000 })
    .toBe(1)
})

test('a copy is served no longer than its value', async () => {
  const { cache, keep } = await leveled({ clock: 'real', ttl: '400ms' })
  await keep()

  await sleep(450)

  expect(await cache.get('a', () => 'new')).toBe('new')
})

test('a copy that is due is refreshed while it is served', async () => {
  const { cache, keep } = await leveled({ clock: 'real', ttl: '200ms', staleWhileRevalidate: '1h' })
  await keep()

  await sleep(250)

  expect(await cache.get('a', () => 'new')).toBe('loaded')
  await expect.poll(() => cache.get('a', () => 'newer')).toBe('new')
})

test('it holds no more copies than its count: the least recently used is evicted first', async () => {
  const { cache, keep, events } = await leveled({ l1: { count: 2, age: '1h' } })
  await keep()
  await cache.get('b', () => 'b')
  await cache.get('b', () => 'b')
  await cache.get('a', () => 'a')

  await cache.get('c', () => 'c')

  expect(events.filter(({ kind }) => kind === 'evicted')).toEqual([{ kind: 'evicted', key: 'b' }])
  const from = events.length
  await cache.get('a', () => 'again')
  expect(events.slice(from)).toEqual([{ kind: 'fresh', key: 'a', from: 'process' }])
})

test('it holds no more bytes than its limit', async () => {
  const { cache, keep } = await leveled({ l1: { count: 100, bytes: 250, age: '1h' } })
  await keep()

  for (const key of ['b', 'c', 'b', 'c']) await cache.get(key, () => 'x'.repeat(100))
  await cache.get('d', () => 'x'.repeat(1000))
  await cache.get('d', () => 'x'.repeat(1000))

  // 45 bytes of head and codec name, and two quotes.
  expect(cache.inspectL1()).toEqual({ count: 1, bytes: 147 })
})

test('no message is sent for a value that no L1 holds', async () => {
  const made = await setup<string>({ ttl: '1h' })
  const ear = new Redis(inject('redisPort'))
  onTestFinished(() => ear.disconnect())
  const heard: string[] = []
  ear.on('message', (_channel, message: string) => {
    if (message.includes(made.name)) heard.push(message)
  })
  await ear.subscribe('cache-test:{cache:}:wake:levels')
  const { cache } = made

  await cache.get('a', () => 'a')
  await cache.set('a', 'b')
  await cache.invalidate('a')
  await cache.set('b', 'b')
  const leveledOne = made.another({ ttl: '1h', l1: HOUR })
  await expect
    .poll(async () => (await leveledOne.cache.get('b', () => 'b')) && leveledOne.cache.inspectL1()?.count)
    .toBe(1)
  await cache.invalidate('b')

  await expect.poll(() => heard.length).toBe(1)
  expect(heard[0]).toContain(`{cache:${made.name}:b}:value`)
})

test('handles of one name share one L1, with the same limits', async () => {
  const { runtime, name } = await leveled()
  const { Cache } = await import('./cache.ts')

  expect(() => new Cache(runtime, name, { l1: HOUR })).not.toThrow()
  expect(() => new Cache(runtime, name, { l1: { count: 7 } })).toThrow(InvalidArgumentError)
  expect(() => new Cache(runtime, 'other', { l1: { count: 0 } })).toThrow(InvalidArgumentError)
})

test('callers may change the bytes that they get', async () => {
  const { cache } = await setup<Uint8Array>({ ttl: '1h', l1: HOUR, codec: bytes })
  const get = (): Promise<Uint8Array> => cache.get('a', () => Uint8Array.of(1))
  await cache.set('a', Uint8Array.of(1, 2))
  await get()

  for (let n = 0; n < 20; n += 1) {
    const [one, other, entry] = await Promise.all([get(), get(), cache.getEntry('a')])
    one.fill(7)
    expect([...other, ...(entry?.value ?? [])]).toEqual([1, 2, 1, 2])
  }
})

test('handles with json and with jsonText get their own kind of value, also of one load', async () => {
  const { redis, name } = instance()
  const options = { ttl: '1h', l1: { ...HOUR, share: true } } as const
  const values = redis.cache<{ n: number }>(name, options)
  const texts = redis.cache<string>(name, { ...options, codec: jsonText })
  const loading = async (): Promise<unknown[]> =>
    Promise.all([values.get('a', () => ({ n: 1 })), texts.get('a', () => '{"n":1}')])

  for (let n = 0; n < 10; n += 1) expect(await loading()).toEqual([{ n: 1 }, '{"n":1}'])
})

test('bytes that are given may be changed at once', async () => {
  const { redis, name } = instance()
  const cache = redis.cache<Uint8Array>(name, { codec: bytes })
  const given = Uint8Array.of(1)
  const setting = cache.set('a', given)
  given.fill(2)
  await setting

  expect([...((await cache.getEntry('a'))?.value ?? [])]).toEqual([1])
})

test.each([true, false])('with share: %s gets of a copy return the same object, or not', async (share) => {
  const { cache } = await setup<{ n: number }>({ ttl: '1h', l1: { count: 9, share } })
  const get = (): Promise<{ n: number }> => cache.get('a', () => ({ n: 1 }))
  const isSame = async (): Promise<boolean> => (await get()) === (await get())
  await get()

  if (share) await expect.poll(isSame).toBe(true)
  else for (let n = 0; n < 20; n++) expect(await isSame()).toBe(false)

  expect(await get()).toEqual({ n: 1 })
  await cache.set('a', { n: 2 })
  await expect.poll(get).toEqual({ n: 2 })
})
