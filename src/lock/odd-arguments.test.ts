import { InvalidArgumentError } from 'perilune'
import { expect, test } from 'vitest'
import { setup } from '../../test/lock-fixture.ts'

test.each([undefined, null, 7, { id: 1 }, ['a'], Symbol('a'), ''])(
  'a set of locks rejects an invalid name: %o',
  async (odd) => {
    const { redis } = await setup()
    const open = (): unknown => redis.locks(['a', odd as string])

    expect(open).toThrow(InvalidArgumentError)
    expect(open).toThrow('names[1]')
  },
)

test('tryAcquire of a lock and of a set rejects options that it would ignore', async () => {
  const { lock, redis, name, calls } = await setup()
  const wait = { wait: '1s' } as never

  for (const each of [lock, lock.shared, redis.locks([name])])
    await expect(each.tryAcquire(wait)).rejects.toThrow(InvalidArgumentError)

  expect(calls).toEqual([])
})
