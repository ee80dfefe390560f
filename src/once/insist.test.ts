// Work that ends while the server is unavailable: only its process knows the result, and no caller is left to retry.

import { type Driver, type Once, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { setup } from '../../test/once-fixture.ts'
import { until } from '../../test/servers/ask.ts'
import { ConnectionLostError, ServerReplyError } from '../driver.ts'

interface Scene {
  /** Its server is unavailable from `goAway` until `comeBack`. */
  readonly cut: Once<unknown>
  readonly other: Once<unknown>
  goAway(): void
  comeBack(): void
}

async function scene(failure: Error = new ConnectionLostError('away', false)): Promise<Scene> {
  const { once, name, client } = await setup({ clock: 'real' })
  const plain = ioredis(client)
  let isAway = false
  const run: Driver['run'] = (call) => (isAway ? Promise.reject(failure) : plain.run(call))
  const driver: Driver = Object.assign(Object.create(plain) as Driver, {
    run,
    info: () => plain.info(),
    subscribe: (...args: Parameters<Driver['subscribe']>) => plain.subscribe(...args),
    close: async () => undefined,
  })
  const redis = perilune(driver, { namespace: 'once-test', deadline: '300ms' })
  onTestFinished(() => redis.close())
  return {
    cut: redis.once(name),
    other: once,
    goAway: () => (isAway = true),
    comeBack: () => (isAway = false),
  }
}

test('work that ends during an outage is done once: its result is stored when the server is back', async () => {
  const { cut, other, goAway, comeBack } = await scene()
  let done = 0
  const work = (): string => {
    done += 1
    goAway()
    return 'done'
  }
  await expect(cut.run('a', work)).rejects.toMatchObject({ code: 'unreachable' })
  comeBack()

  await until('the result is known', async () => (await other.get('a')) !== null)

  expect(await other.run('a', work)).toBe('done')
  expect(done).toBe(1)
})

test('work whose result cannot be stored is known to be done, also after an outage', async () => {
  const { cut, other, goAway, comeBack } = await scene()
  const work = (): bigint => {
    goAway()
    return 1n
  }
  await expect(cut.run('a', work)).rejects.toThrow('JSON')
  comeBack()

  await until('that is known', async () => (await other.inspect('a')).state === 'finished')

  await expect(other.run('a', work)).rejects.toMatchObject({ name: 'ResultNotKeptError' })
})

test('work that fails during an outage frees its key when the server is back', async () => {
  const { cut, other, goAway, comeBack } = await scene()
  const work = (): never => {
    goAway()
    throw new Error('failed')
  }
  await expect(cut.run('a', work)).rejects.toThrow('failed')
  comeBack()

  await until('the key is free', async () => (await other.inspect('a')).state === 'free')
})

test('work whose result is rejected for a missing permission is done once: its result is stored when the permission is back', async () => {
  const { cut, other, goAway, comeBack } = await scene(
    new ServerReplyError('NOPERM this user has no permissions'),
  )
  let done = 0
  const work = (): string => {
    done += 1
    goAway()
    return 'done'
  }
  await expect(cut.run('a', work)).rejects.toMatchObject({ code: 'forbidden' })
  comeBack()

  await until('the result is known', async () => (await other.get('a')) !== null)

  expect(await other.run('a', work)).toBe('done')
  expect(done).toBe(1)
})

test('a result that arrives too late does not affect an attempt that has begun since', async () => {
  const { cut, other, goAway, comeBack } = await scene()
  const work = (): string => {
    goAway()
    return 'late'
  }
  await expect(cut.run('a', work)).rejects.toMatchObject({ code: 'unreachable' })
  await other.clear('a')
  comeBack()

  expect(await other.run('a', () => new Promise((resolve) => setTimeout(resolve, 1500, 'new')))).toBe('new')
  expect(await other.get('a')).toMatchObject({ result: 'new' })
})
