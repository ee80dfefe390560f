// Results that cannot be stored, of work that was done.

import { type Codec, InvalidArgumentError, ResultNotKeptError } from 'perilune'
import { describe, expect, test } from 'vitest'
import { instance } from '../../test/instance.ts'
import { gate, setup } from '../../test/once-fixture.ts'

const circle: { self?: unknown } = {}
circle.self = circle

const REFUSED: [what: string, result: unknown][] = [
  ['is too large', 'x'.repeat(4 * 1024 * 1024)],
  ['is a bigint', 5n],
  ['is a circle', circle],
  ['is a function', () => 1],
  ['is a symbol', Symbol('result')],
  [
    'has a toJSON that throws',
    {
      toJSON: () => {
        throw new RangeError('no')
      },
    },
  ],
]

describe.each(REFUSED)('a result that %s', (_, result) => {
  test('has its work done once: other callers learn that it was done', async () => {
    const { once } = await setup()
    let done = 0
    const run = (): Promise<unknown> =>
      once.run('a', () => {
        done += 1
        return result
      })

    await expect(run()).rejects.not.toBeInstanceOf(ResultNotKeptError)
    await expect(run()).rejects.toBeInstanceOf(ResultNotKeptError)
    await expect(once.begin('a')).rejects.toMatchObject({
      code: 'result-not-kept',
      resource: expect.stringContaining('a'),
    })
    expect(done).toBe(1)
    expect(await once.get('a')).toBeNull()
    expect(await once.inspect('a')).toMatchObject({ state: 'finished', bytes: 0 })
  })

  test('leaves a manual attempt open: it accepts another result, and is not released', async () => {
    const { once } = await setup()
    const begun = await once.begin('a')
    if (begun.status !== 'started') throw new Error(begun.status)
    {
      await using attempt = begun.attempt
      await expect(attempt.complete(result)).rejects.toThrow()
    }

    expect(await once.begin('a')).toMatchObject({ status: 'running' })
    await begun.attempt.complete('short')
    expect(await once.begin('a')).toMatchObject({ status: 'replayed', result: 'short' })
  })

  test('does not free the key either when its instance closes', async () => {
    const { redis, name } = instance()
    const begun = await redis.once(name).begin('a')
    if (begun.status !== 'started') throw new Error(begun.status)
    await expect(begun.attempt.complete(result)).rejects.toThrow()

    await redis.close()

    expect(await instance().redis.once(name).begin('a')).toMatchObject({ status: 'running' })
  })
})

test('a waiter for work whose result cannot be stored gets an error when it is done', async () => {
  const { once } = await setup()
  const { opened, open } = gate()
  const first = once.run('a', async () => {
    await opened
    return 1n
  })
  const refused = expect(first).rejects.not.toBeInstanceOf(ResultNotKeptError)
  while ((await once.inspect('a')).state !== 'running') await new Promise(setImmediate)
  const second = once.run('a', () => 'again', { wait: '20s' })
  const waiter = expect(second).rejects.toBeInstanceOf(ResultNotKeptError)
  open()

  await Promise.all([refused, waiter])
})

test('a result that its codec rejects has its work done once', async () => {
  const refusing: Codec<string> = {
    name: 'refusing',
    encode: () => {
      throw new InvalidArgumentError('result', 'must be another one')
    },
    decode: String,
  }
  const { once } = await setup<string>({ codec: refusing })

  await expect(once.run('a', () => 'done')).rejects.toThrow('must be another one')
  await expect(once.run('a', () => 'done')).rejects.toBeInstanceOf(ResultNotKeptError)
})

test('a result that its codec cannot decode counts as work that was done', async () => {
  const forgetful: Codec<string> = {
    name: 'forgetful',
    encode: (result) => result,
    decode: () => {
      throw new TypeError('a shape of before')
    },
  }
  const { once } = await setup<string>({ codec: forgetful })
  await once.run('a', () => 'done')

  const unreadable = { code: 'result-not-kept', cause: new TypeError('a shape of before') }
  await expect(once.run('a', () => 'done')).rejects.toMatchObject(unreadable)
  await expect(once.begin('a')).rejects.toMatchObject(unreadable)
  await expect(once.get('a')).rejects.toMatchObject(unreadable)
})
