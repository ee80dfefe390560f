// Answers of the lock that are lost, or come when they are worth nothing any more.

import { Redis } from 'ioredis'
import { AmbiguousError, LeaseLostError, perilune, WaitTimeoutError } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { type Driver, type ScriptCall, ServerReplyError } from '../../src/driver.ts'
import { type Setup, setup } from '../lock-fixture.ts'
import { until } from '../servers/ask.ts'
import { type Proxy, startProxy } from '../servers/proxy.ts'

/** A lock behind a proxy of its own, and the same lock seen without it. */
async function behindProxy(
  options: Parameters<typeof setup>[0] = {},
): Promise<Setup & { proxy: Proxy; direct: Setup['lock'] }> {
  const proxy = await startProxy(inject('redisPort'))
  onTestFinished(() => proxy.stop())
  const far = await setup({ clock: 'real', ...options, port: proxy.port })
  const near = await setup({ clock: 'real', name: far.name })
  await far.redis.preload()
  await far.lock.inspect()
  return { ...far, proxy, direct: near.lock }
}

const isFree = (lock: Setup['lock']) => async (): Promise<boolean> => {
  const { mode, waiting } = await lock.inspect()
  return mode === 'free' && waiting === 0
}

// node-redlock#296
test('acquire never returns a lease that ended on the way', async () => {
  const { lock, proxy } = await behindProxy({ lease: '40ms' })
  proxy.delay(40)

  expect(await lock.tryAcquire()).toBeNull()
})

test('the error of an acquire whose lease ended on the way does not say that the lock was held', async () => {
  const { lock, name, proxy, direct } = await behindProxy({ lease: '40ms' })
  proxy.delay(40)

  await expect(lock.acquire()).rejects.toThrow(`lock '${name}' was not obtained in one attempt`)

  proxy.delay(0)
  await until('nothing is left of it', isFree(direct))
})

test('acquireDetached never returns a lease that ended on the way', async () => {
  const { lock, redis, name, proxy, direct } = await behindProxy({ lease: '40ms' })
  const semaphore = redis.semaphore(name, { limit: 1, lease: '40ms' })
  await (await semaphore.acquire()).release()
  proxy.delay(40)

  for (const attempt of [
    lock.acquireDetached(),
    lock.shared.acquireDetached(),
    lock.acquireDetached({ wait: '50ms' }),
  ]) {
    expect(await attempt).toMatchObject({ status: 'held', retryAfterMs: expect.any(Number) })
  }
  expect(await semaphore.acquireDetached()).toMatchObject({
    status: 'full',
    retryAfterMs: expect.any(Number),
  })

  proxy.delay(0)
  await until('nothing is left of it', isFree(direct))
})

// node-redlock#309
test('a grant that arrives too late is given back at once', async () => {
  const { lock, proxy, direct } = await behindProxy({ lease: '40ms', maxHold: '1s' })
  const { lock: patient } = await setup({ clock: 'real', name: direct.name })
  proxy.delay(40)
  await lock.tryAcquire()
  proxy.delay(0)

  await (await patient.acquire({ wait: '20s' })).release()
})

test.each([true, false])(
  'waiting ends in time though every grant of a lock arrives too late; fair: %s',
  async (fair) => {
    const { lock, proxy, direct } = await behindProxy({ lease: '40ms', fair })
    proxy.delay(40)

    await expect(lock.acquire({ wait: '300ms' })).rejects.toThrow(WaitTimeoutError)

    proxy.delay(0)
    await until('nothing is left of it', isFree(direct))
  },
)

test('without any answer an acquire is ambiguous, and a waiting acquire too', async () => {
  const { lock, proxy } = await behindProxy()
  proxy.halfOpen()

  const [once, waiting] = await Promise.allSettled([lock.tryAcquire(), lock.acquire({ wait: '20s' })])

  expect(once).toMatchObject({ status: 'rejected', reason: expect.any(AmbiguousError) })
  expect(waiting).toMatchObject({ status: 'rejected', reason: expect.any(AmbiguousError) })
})

test('a holder that hears nothing any more learns of its loss no later than its lease ends', async () => {
  const { lock, proxy, direct } = await behindProxy({ lease: '150ms' })
  const lease = await lock.acquire()
  proxy.halfOpen()

  const next = await direct.acquire({ wait: '20s' })

  expect(lease.signal.aborted).toBe(true)
  expect(lease.signal.reason).toBeInstanceOf(LeaseLostError)
  expect(next.token).toBeGreaterThan(lease.token)
  expect(() => lease.assertHeld()).toThrow(LeaseLostError)
  await next.release()
})

test('an acknowledged release is a release, even if the notification of waiters fails', async () => {
  const { redis: other, name, lock: theirs } = await setup({ clock: 'real' })
  const client = new Redis(inject('redisPort'))
  const plain = ioredis(client)
  const refusing: Driver = Object.assign(Object.create(plain) as Driver, {
    run: (call: ScriptCall) =>
      call.script.name === 'lock/serve' ? Promise.reject(new ServerReplyError('NOPERM no')) : plain.run(call),
    info: () => plain.info(),
    load: (script: Parameters<Driver['load']>[0]) => plain.load(script),
    subscribe: (...args: Parameters<Driver['subscribe']>) => plain.subscribe(...args),
    close: () => plain.close(),
  })
  const redis = perilune(refusing, { namespace: 'lock-test' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  const lease = await redis.lock(name).acquire()
  const reading = other.lock(name).shared.acquire({ wait: '20s' })
  await until('a reader waits', async () => (await theirs.inspect()).waiting === 1)

  await lease.release()

  expect(() => lease.assertHeld()).toThrow(LeaseLostError)
  await (await reading).release()
})
