// The first copy of a request is delayed on its way, the second is answered, and the first reaches the server when its
// caller has died, or has released its grant: the late grant is given back.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { ConnectionLostError, type Driver, type Reply, type ScriptCall } from '../../src/driver.ts'
import { until } from '../servers/ask.ts'

interface Scene {
  /** Keeps the first copy of each call of this script. */
  readonly slow: Perilune
  readonly other: Perilune
  /** The delayed copy reaches the server; resolves to its answers. */
  arrive(): Promise<Reply[]>
}

function scene(script: string): Scene {
  const namespace = `copies-${randomUUID()}`
  const client = new Redis(inject('redisPort'))
  const kept: ScriptCall[] = []
  const plain = ioredis(client)
  const keeping: Driver = Object.assign(Object.create(plain) as Driver, {
    run: (call: ScriptCall) => {
      if (call.script.name !== script || kept.length > 0) return plain.run(call)
      kept.push(call)
      return Promise.reject(new ConnectionLostError('kept', true))
    },
    info: () => plain.info(),
    load: (one: Parameters<Driver['load']>[0]) => plain.load(one),
    subscribe: (...args: Parameters<Driver['subscribe']>) => plain.subscribe(...args),
    close: async () => undefined,
  })
  const slow = perilune(keeping, { namespace })
  const other = perilune(plain, { namespace })
  onTestFinished(async () => {
    await slow.close()
    await other.close()
    client.disconnect()
  })
  const arrive = (): Promise<Reply[]> =>
    Promise.all(kept.map((call) => plain.run({ ...call, send: 'source' })))
  return { slow, other, arrive }
}

test('of a lock that was to be detached', async () => {
  const { slow, other, arrive } = scene('lock/acquire')
  const held = await other.lock('l').acquire()
  expect(await slow.lock('l', { lease: '5m' }).acquireDetached()).toMatchObject({ status: 'held' })
  await held.release()

  expect(await arrive()).toMatchObject([{ 0: 'granted' }])

  await until('it is free again', async () => (await other.lock('l').inspect()).mode === 'free')
})

test('of a permit that was to be detached', async () => {
  const { slow, other, arrive } = scene('semaphore/acquire')
  const held = await other.semaphore('s', { limit: 1 }).acquire()
  expect(await slow.semaphore('s', { limit: 1, lease: '5m' }).acquireDetached()).toMatchObject({
    status: 'full',
  })
  await held.release()

  expect(await arrive()).toMatchObject([{ 0: 'granted' }])

  await until('it is free again', async () => (await other.semaphore('s', { limit: 1 }).inspect()).used === 0)
})

test('of locks that were to be acquired together', async () => {
  const { slow, other, arrive } = scene('lock/acquire-all')
  const options = { group: 'g', lease: '5m' } as const
  const held = await other.lock('b', options).acquire()
  expect(await slow.locks(['a', 'b'], options).tryAcquire()).toBeNull()
  await held.release()

  expect(await arrive()).toMatchObject([{ 0: 'granted' }])

  const isFree = async (name: string): Promise<boolean> =>
    (await other.lock(name, options).inspect()).mode === 'free'
  await until('both are free again', async () => (await isFree('a')) && (await isFree('b')))
})

test.each(['alone', 'shared'] as const)('of a lock that was acquired %s and given back', async (how) => {
  const { slow, other, arrive } = scene(how === 'alone' ? 'lock/acquire' : 'lock/acquire-shared')
  const side = how === 'alone' ? slow.lock('l', { lease: '5m' }) : slow.lock('l', { lease: '5m' }).shared
  const lease = await side.acquire({ wait: '5s' })
  await lease.release()
  await (await other.lock('l').acquire()).release()

  expect(await arrive()).toMatchObject([{ 0: 'granted' }])

  await until('it is free again', async () => (await other.lock('l').inspect()).mode === 'free')
})

test('of a permit that was acquired and given back', async () => {
  const { slow, other, arrive } = scene('semaphore/acquire')
  const permit = await slow.semaphore('s', { limit: 1, lease: '5m' }).acquire({ wait: '5s' })
  await permit.release()

  expect(await arrive()).toMatchObject([{ 0: 'granted' }])

  await until('it is free again', async () => (await other.semaphore('s', { limit: 1 }).inspect()).used === 0)
})

test('of locks that were acquired together and given back', async () => {
  const { slow, other, arrive } = scene('lock/acquire-all')
  const options = { group: 'g', lease: '5m' } as const
  const lease = await slow.locks(['a', 'b'], options).tryAcquire()
  await lease?.release()
  for (const name of ['a', 'b']) await (await other.lock(name, options).acquire()).release()

  expect(await arrive()).toMatchObject([{ 0: 'granted' }])

  const isFree = async (name: string): Promise<boolean> =>
    (await other.lock(name, options).inspect()).mode === 'free'
  await until('both are free again', async () => (await isFree('a')) && (await isFree('b')))
})

test('of a take of a place that was denied', async () => {
  const { slow, other, arrive } = scene('rate-limit/take')
  const limit = { algorithm: 'concurrency', limit: 1, lease: '5m' } as const
  const held = await other.rateLimit('r', limit).take('ada')
  if (!held.allowed) throw new Error('the place was not granted')
  expect(await slow.rateLimit('r', limit).take('ada')).toMatchObject({ allowed: false })
  await other.rateLimit('r', limit).release('ada', held.token)

  await arrive().catch(() => 'it is refused')

  await until('the place is free', async () => (await other.rateLimit('r', limit).get('ada')).allowed)
})

test('of a fenced value that its process has written since changes nothing', async () => {
  const { slow, other, arrive } = scene('lock/fenced-set')
  const fenced = slow.fenced<string>('price')
  expect(await fenced.set('old', 5)).toBe(true)
  expect(await fenced.set('new', 5)).toBe(true)

  expect(await arrive()).toEqual([['stored']])

  expect(await other.fenced('price').get()).toEqual({ value: 'new', token: 5 })
})

test('of an attempt at a key that failed, as another one did after it', async () => {
  const { slow, other, arrive } = scene('once/begin')
  const fail = async (): Promise<never> => {
    throw new Error('failed')
  }
  await expect(slow.once('o', { lease: '5m' }).run('key', fail)).rejects.toThrow('failed')
  await expect(other.once('o').run('key', fail)).rejects.toThrow('failed')

  expect(String((await arrive()).flat()[0])).toBe('started')

  await until('it is free again', async () => (await other.once('o').inspect('key')).state === 'free')
})

test('of an attempt at a key whose result was cleared, or was detached', async () => {
  const { slow, other, arrive } = scene('once/begin')
  const once = slow.once<number>('o', { lease: '5m' })
  const begun = await once.beginDetached('key')
  await once.byToken.complete('key', begun.status === 'started' ? begun.token : 0, 1)
  await other.once('o').clear('key')

  expect(String((await arrive()).flat()[0])).toBe('started')

  await until('it is free again', async () => (await other.once('o').inspect('key')).state === 'free')
})

test('of an attempt at a key that is under way does not touch it', async () => {
  const { slow, other, arrive } = scene('once/begin')
  const begun = await slow.once<number>('o', { lease: '5m' }).begin('key')
  if (begun.status !== 'started') throw new Error(begun.status)

  expect((await arrive()).flat()[1]).toBe(begun.attempt.token)
  await new Promise((resolve) => setTimeout(resolve, 50))

  await begun.attempt.complete(1)
  expect(await other.once('o').get('key')).toMatchObject({ result: 1 })
})
