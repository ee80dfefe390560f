import { setTimeout as sleep } from 'node:timers/promises'
import { type Driver, LeaseLostError, LoadFailedError, MaxRunError, WaitTimeoutError } from 'perilune'
import { Cache } from 'perilune/cache'
import { expect, onTestFinished, test } from 'vitest'
import { counted, setup } from '../../test/cache-fixture.ts'
import { counting } from '../../test/counting-driver.ts'
import { instance } from '../../test/instance.ts'
import { gate } from '../../test/once-fixture.ts'
import { Runtime } from '../runtime/connection/runtime.ts'

test('gets of one key at once run the loader once', async () => {
  const { cache } = await setup<number>()
  const { load, runs } = counted((run) => run)

  const values = await Promise.all(Array.from({ length: 100 }, () => cache.get('a', load)))

  expect(new Set(values)).toEqual(new Set([1]))
  expect(runs()).toBe(1)
})

test('a load whose value cannot be sent is not repeated', async () => {
  const { redis, driver, name } = instance()
  const cache = redis.cache<number>(name, { wait: '5s' })
  const run = driver.run.bind(driver)
  driver.run = async (call) => {
    if (call.script.name === 'cache/store') throw new TypeError('what is this?')
    return run(call)
  }
  const { load, runs } = counted((nth) => nth)

  await expect(cache.get('a', load)).rejects.toThrow('what is this?')

  expect(runs()).toBe(1)
})

test('another process waits for the load and gets its value', async () => {
  const { cache, another } = await setup<string>()
  const [began, held] = [gate(), gate()]
  const first = cache.get('a', async () => {
    began.open()
    await held.opened
    return 'loaded'
  })
  await began.opened
  const { load, runs } = counted(() => 'again')

  const second = another().cache.get('a', load)
  await sleep(50)
  held.open()

  expect(await Promise.all([first, second])).toEqual(['loaded', 'loaded'])
  expect(runs()).toBe(0)
})

test('a process that closes while it loads gives the load to another', async () => {
  const { cache, runtime, another } = await setup<string>({ lease: '1h' })
  const began = gate()
  const first = cache.get('a', async () => {
    began.open()
    return new Promise<string>(() => undefined)
  })
  first.catch(() => undefined)
  await began.opened
  const second = another().cache.get('a', () => 'loaded')

  await runtime.close()

  expect(await second).toBe('loaded')
})

test.each(['served', 'away'])(
  'the signal of a loader says at close that its lease is lost, Redis %s',
  async (state) => {
    const { cache, runtime, client } = await setup<string>()
    if (state === 'away') client.disconnect()
    const began = gate()
    let signal: AbortSignal | null = null
    const got = cache.get('a', async (context) => {
      signal = context.signal
      began.open()
      return new Promise<string>(() => undefined)
    })
    const closed = expect.objectContaining({ name: 'DriverError', code: 'closed' })
    const rejected = expect(got).rejects.toEqual(closed)
    await began.opened

    await runtime.close()

    await rejected
    const { reason } = signal as unknown as AbortSignal
    expect(reason).toBeInstanceOf(LeaseLostError)
    expect(reason).toMatchObject({ cause: closed })
  },
)

test('while Redis is away, loads without waiting callers are dropped and delay no others', async () => {
  const { cache, client } = await setup<string>({ localConcurrency: 1 })
  client.disconnect()
  const [began, held, loaded] = [gate(), gate(), [] as string[]]
  const load = async ({ key }: { key: string }): Promise<string> => {
    loaded.push(key)
    began.open()
    await held.opened
    return key
  }
  const first = cache.get('first', load)
  await began.opened
  const aborter = new AbortController()
  const left = [
    cache.get('late', load, { wait: '10ms' }),
    cache.get('shared', load, { wait: '10ms' }),
    cache.get('aborted', load, { signal: aborter.signal }),
  ]
  const shared = cache.get('shared', load)
  const settled = Promise.allSettled(left)
  await expect(left[0]).rejects.toThrow(WaitTimeoutError)
  await expect(left[1]).rejects.toThrow(WaitTimeoutError)
  aborter.abort()
  await settled
  const last = cache.get('last', load)
  held.open()

  expect(await Promise.all([first, shared, last])).toEqual(['first', 'shared', 'last'])
  expect(loaded).toEqual(['first', 'shared', 'last'])
})

test('the error of a loader reaches all waiters, in every process, and is not cached', async () => {
  const { cache, another } = await setup<string>()
  const [began, held] = [gate(), gate()]
  const broken = async (): Promise<string> => {
    began.open()
    await held.opened
    throw new TypeError('no route')
  }
  const first = cache.get('a', broken)
  const joined = cache.get('a', broken)
  await began.opened
  const elsewhere = another().cache.get('a', () => 'mine')
  await sleep(50)
  held.open()

  const [one, two, three] = await Promise.allSettled([first, joined, elsewhere])
  expect(one).toMatchObject({ reason: expect.any(TypeError) })
  expect(two).toMatchObject({ reason: expect.any(TypeError) })
  expect(three).toMatchObject({ reason: expect.any(LoadFailedError) })
  expect(await cache.get('a', () => 'fine')).toBe('fine')
})

test('a stale value is served while its loader fails', async () => {
  const { cache, clock } = await setup<number>({ ttl: '1m', staleWhileRevalidate: '1h' })
  await cache.get('a', () => 1)
  await clock.advance(60_000)
  const broken = counted<number>(() => Promise.reject(new Error('down')))

  expect(await cache.get('a', broken.load)).toBe(1)
  await expect.poll(broken.runs).toBe(1)
  expect(await cache.get('a', broken.load)).toBe(1)
})

test('a loader may set the ttl and version of its value', async () => {
  const { cache, clock } = await setup<number>({ ttl: '1h' })
  await cache.get('a', (context) => {
    context.keep({ ttl: '5s', version: 3 })
    return 1
  })
  await clock.advance(5000)

  expect(await cache.getEntry('a')).toBeNull()
  expect(await cache.set('a', 2, { version: 2 })).toEqual({ stored: false, version: 3 })
})

test('a loader that takes longer than maxLoad fails, and its signal aborts', async () => {
  const { cache } = await setup<string>({ maxLoad: '50ms' })
  let reason: unknown

  const got = cache.get('a', ({ signal }) => {
    signal.addEventListener('abort', () => (reason = signal.reason))
    return new Promise(() => undefined)
  })

  await expect(got).rejects.toThrow(MaxRunError)
  expect(reason).toBeInstanceOf(MaxRunError)
  expect(await cache.get('a', () => 'fine')).toBe('fine')
})

test('a get waits for a load no longer than its wait', async () => {
  const { cache, another } = await setup<string>()
  const held = gate()
  const first = cache.get('a', () => held.opened.then(() => 'late'))
  const load = (): string => 'never'

  await expect(another().cache.get('a', load, { wait: '50ms' })).rejects.toThrow(WaitTimeoutError)
  await expect(cache.get('a', load, { wait: '50ms' })).rejects.toThrow(WaitTimeoutError)
  const aborter = new AbortController()
  const aborted = cache.get('a', load, { signal: aborter.signal })
  aborter.abort(new Error('enough'))
  await expect(aborted).rejects.toThrow('enough')
  held.open()
  expect(await first).toBe('late')
})

test('loadDetached waits no longer than its wait, also when subscribing is slow', async () => {
  const { cache, name, runtime } = await setup<string>()
  const held = gate()
  const first = cache.get('a', () => held.opened.then(() => 'late'))
  const deaf: Driver = Object.assign(Object.create(runtime.runner.driver) as Driver, {
    subscribe: () => new Promise(() => undefined),
  })
  const other = new Runtime(counting(deaf, []), 'cache-test', 5000)
  onTestFinished(() => other.close())

  const load = new Cache<string>(other, name).loadDetached('a', { wait: '50ms' })

  // A subscriber connection may take a second to open.
  expect(await Promise.race([load, sleep(900, 'still waits')])).toMatchObject({ status: 'loading' })
  held.open()
  expect(await first).toBe('late')
})

test('a loader whose lease is lost is replaced, and its late value is refused', async () => {
  const { cache, clock, another } = await setup<string>({ lease: '1h' })
  const [began, held] = [gate(), gate()]
  const first = cache.get('a', async () => {
    began.open()
    await held.opened
    return 'late'
  })
  await began.opened
  await clock.advance(3_600_000)

  expect(await another().cache.get('a', () => 'in time')).toBe('in time')
  held.open()
  expect(await first).toBe('late')
  expect((await cache.getEntry('a'))?.value).toBe('in time')
})

test('a load that takes longer than its lease keeps the lease', async () => {
  const { cache, another } = await setup<string>({ clock: 'real', lease: '1s' })
  const began = gate()
  const first = cache.get('a', async () => {
    began.open()
    await sleep(2500)
    return 'slow'
  })
  await began.opened
  const second = counted(() => 'mine')

  expect(await another().cache.get('a', second.load)).toBe('slow')
  expect(await first).toBe('slow')
  expect(second.runs()).toBe(0)
})
