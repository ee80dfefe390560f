import { expect, test } from 'vitest'
import { instance } from '../../test/instance.ts'

test('a value remembers the token that wrote it', async () => {
  const { redis, name } = instance()
  const fenced = redis.fenced<{ paid: boolean }>(name)

  expect(await fenced.get()).toBeNull()
  expect(await fenced.set({ paid: true }, 7)).toBe(true)
  expect(await fenced.get()).toEqual({ value: { paid: true }, token: 7 })
})

test('a smaller token is refused and changes nothing; the same token may write again', async () => {
  const { redis, name } = instance()
  const fenced = redis.fenced<string>(name)
  await fenced.set('new', 8)

  expect(await fenced.set('old', 7)).toBe(false)
  expect(await fenced.get()).toEqual({ value: 'new', token: 8 })
  expect(await fenced.set('newer', 8)).toBe(true)
  expect(await fenced.get()).toEqual({ value: 'newer', token: 8 })
})

test('a holder that slept past its lease cannot write over its successor', async () => {
  const { redis, name } = instance()
  const lock = redis.lock(name, { lease: '300ms', maxHold: '0s' })
  const fenced = redis.fenced<string>(name)
  const sleeper = await lock.acquire()
  const successor = await redis.lock(name).acquire({ wait: '5s' })

  expect(await fenced.set('by the successor', successor.token)).toBe(true)
  expect(await fenced.set('by the sleeper', sleeper.token)).toBe(false)
  expect((await fenced.get())?.value).toBe('by the successor')
})

test('an invalid token is rejected by name', async () => {
  const { redis, name } = instance()

  await expect(redis.fenced(name).set('x', 1.5)).rejects.toMatchObject({
    code: 'invalid-argument',
    argument: 'token',
  })
})

test('a value that JSON cannot hold is rejected by name', async () => {
  const { redis, name } = instance()

  await expect(redis.fenced(name).set(() => 1, 1)).rejects.toMatchObject({
    code: 'invalid-argument',
    argument: 'value',
  })
})
