import { getEventListeners } from 'node:events'
import { LeaseLostError, WaitTimeoutError } from 'perilune'
import { expect, test } from 'vitest'
import { instance } from '../../test/instance.ts'
import { ServerReplyError } from '../driver.ts'

test('a set acquires every name and releases every name', async () => {
  const { redis, name } = instance()
  const [a, b] = [`${name}:a`, `${name}:b`]
  const lease = await redis.locks([b, a]).acquire()

  expect([...lease.tokens.keys()]).toEqual([a, b])
  expect(lease.token).toBe(Math.max(...lease.tokens.values()))
  expect(await redis.lock(a).tryAcquire()).toBeNull()
  expect(await redis.lock(b).tryAcquire()).toBeNull()

  await lease.release()
  expect((await redis.lock(a).inspect()).mode).toBe('free')
  expect((await redis.lock(b).inspect()).mode).toBe('free')
})

test('a set with one held name keeps none of the others', async () => {
  const { redis, name } = instance()
  const [a, b] = [`${name}:a`, `${name}:b`]
  await using _held = await redis.lock(b).acquire()

  expect(await redis.locks([a, b]).tryAcquire()).toBeNull()
  await expect(redis.locks([a, b]).acquire({ wait: '30ms' })).rejects.toThrow(WaitTimeoutError)

  expect((await redis.lock(a).inspect()).mode).toBe('free')
})

test('sets with the same locks in opposite orders all succeed', async () => {
  const { redis, name } = instance()
  const names = ['a', 'b', 'c'].map((one) => `${name}:${one}`)
  let inside = 0
  const turn = (order: string[]): Promise<number> =>
    redis.locks(order).run(
      async () => {
        inside += 1
        const seen = inside
        await new Promise((resolve) => setImmediate(resolve))
        inside -= 1
        return seen
      },
      { wait: '20s' },
    )

  const turns = Array.from({ length: 40 }, (_, at) => turn(at % 2 === 0 ? names : names.toReversed()))

  expect(new Set(await Promise.all(turns))).toEqual(new Set([1]))
})

test('a set that lost one lease reports it and releases the others', async () => {
  const { redis, name } = instance()
  const [a, b] = [`${name}:a`, `${name}:b`]
  const lease = await redis.locks([a, b]).acquire()
  await redis.lock(b).clear()

  await expect(lease.release()).rejects.toThrow(LeaseLostError)

  expect((await redis.lock(a).inspect()).mode).toBe('free')
})

test('a duplicate name in a set and an empty set are rejected', () => {
  const { redis } = instance()

  expect(() => redis.locks(['a', 'a'])).toThrow(/names must not name a lock twice/)
  expect(() => redis.locks([])).toThrow(/names must be a list of 1 to 100 names/)
})

test('locks of one group are acquired in one step when all are free', async () => {
  const { redis, calls, name } = instance()
  const set = redis.locks(['a', 'b', 'c'], { group: name })
  await (await set.acquire()).release()
  calls.length = 0

  const lease = await set.acquire()

  expect(calls).toEqual(['lock/acquire-all'])
  expect([...lease.tokens.keys()]).toEqual(['a', 'b', 'c'])
  expect(await redis.lock('b', { group: name }).tryAcquire()).toBeNull()
  expect(await redis.locks(['c', 'd'], { group: name }).tryAcquire()).toBeNull()
  expect((await redis.lock('d', { group: name }).inspect()).mode).toBe('free')
  await lease.release()
})

test('a set of one group waits for the one lock that is held', async () => {
  const { redis, name } = instance()
  const held = await redis.lock('b', { group: name }).acquire()
  const waiting = redis.locks(['a', 'b'], { group: name }).acquire({ wait: '20s' })
  await expect.poll(async () => (await redis.lock('b', { group: name }).inspect()).waiting).toBe(1)

  await held.release()

  expect([...(await waiting).tokens.keys()]).toEqual(['a', 'b'])
})

test('a set whose grant arrives too late is released and not used', async () => {
  const { redis, slowly, name } = instance()
  const set = redis.locks(['a', 'b'], { group: name, lease: '100ms', maxHold: '0s' })
  slowly('lock/acquire-all', 150)

  expect(await set.tryAcquire()).toBeNull()
})

test.each(['0s', '100ms'] as const)(
  'a set that lost one lock while it waited for another is acquired again (maxHold %s)',
  async (maxHold) => {
    const { redis, name } = instance()
    const [a, b] = [`${name}:a`, `${name}:b`]
    const held = await redis.lock(b).acquire()
    const waiting = redis.locks([a, b], { lease: '500ms', maxHold }).acquire({ wait: '20s' })
    await expect.poll(async () => (await redis.lock(b).inspect()).waiting).toBe(1)
    const { token } = await redis.lock(a).inspect()
    await (await redis.lock(a).acquire({ wait: '20s' })).release()
    await held.release()

    const lease = await waiting

    lease.assertHeld()
    expect(lease.tokens.get(a)).toBeGreaterThan(token ?? Infinity)
  },
)

test('a set that loses a lock again and again while it waits is given up in time', async () => {
  const { redis, name } = instance()
  const [a, b] = [`${name}:a`, `${name}:b`]
  await using _held = await redis.lock(b).acquire()

  const waiting = redis.locks([a, b], { lease: '50ms', maxHold: '0s' }).acquire({ wait: '300ms' })

  await expect(waiting).rejects.toThrow(WaitTimeoutError)
})

test('a set that expires during tryAcquire is not returned', async () => {
  const { redis, slowly, name } = instance()
  const [a, b] = [`${name}:a`, `${name}:b`]
  slowly('lock/acquire', 60)

  const taking = redis.locks([a, b], { lease: '100ms', maxHold: '1ms' }).tryAcquire()

  expect(await taking).toBeNull()
  expect((await redis.lock(b).inspect()).mode).toBe('free')
})

test('a set is not acquired for a caller that has aborted', async () => {
  const { redis, calls, name } = instance()
  const signal = AbortSignal.abort(new Error('gone'))

  await expect(redis.locks(['a', 'b'], { group: name }).acquire({ signal })).rejects.toThrow('gone')
  expect(calls).toEqual([])
})

test('a caller that aborts does not wait for a slow server to release the locks of the set', async () => {
  const { redis, name } = instance()
  const far = instance()
  far.slowly('lock/release', 2000)
  const [a, b] = [`${name}:a`, `${name}:b`]
  await using _held = await redis.lock(b).acquire()
  const abort = new AbortController()
  const waiting = far.redis.locks([a, b]).acquire({ wait: '1h', signal: abort.signal })
  await expect.poll(async () => (await redis.lock(b).inspect()).waiting).toBe(1)

  abort.abort(new Error('gone'))

  const soon = new Promise((resolve) => setTimeout(resolve, 1000, 'later'))
  expect(await Promise.race([waiting.catch((error: Error) => error.message), soon])).toBe('gone')
  await expect.poll(async () => (await redis.lock(a).inspect()).mode).toBe('free')
})

test('a set that cannot be released leaves no listener on the signal of its caller', async () => {
  const { redis, driver, name } = instance()
  const run = driver.run.bind(driver)
  driver.run = async (call) => {
    if (call.script.name === 'lock/release') throw new ServerReplyError('NOPERM no')
    return run(call)
  }
  const { signal } = new AbortController()

  const running = redis.locks([`${name}-a`, `${name}-b`]).run(() => undefined, { signal })

  await expect(running).rejects.toMatchObject({ code: 'forbidden' })
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
})

test('a failed set rejects before the release of its locks is done', async () => {
  const { redis, name } = instance()
  const far = instance()
  const [a, b] = [`${name}-a`, `${name}-b`]
  let isGivenBack = false
  const run = far.driver.run.bind(far.driver)
  far.driver.run = async (call) => {
    if (call.keys[0]?.includes(b)) throw new ServerReplyError('NOPERM this key')
    const reply = await run(call)
    if (call.script.name !== 'lock/release') return reply
    await new Promise((resolve) => setTimeout(resolve, 500))
    isGivenBack = true
    return reply
  }

  await expect(far.redis.locks([a, b]).acquire({ wait: '20s' })).rejects.toMatchObject({ code: 'forbidden' })

  expect(isGivenBack).toBe(false)
  await expect.poll(async () => (await redis.lock(a).inspect()).mode).toBe('free')
})
