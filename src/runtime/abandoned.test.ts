import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Abandoned } from './abandoned.ts'
import { DriverError } from './errors.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

test('an attempt that ended is abandoned once', async () => {
  const say = vi.fn(async () => undefined)
  new Abandoned().add('a', say, false)

  await vi.advanceTimersByTimeAsync(200_000)
  expect(say).toHaveBeenCalledTimes(1)
})

test('what could not be said is said again until it is heard', async () => {
  const say = vi.fn(async () => undefined)
  say.mockRejectedValueOnce(new Error('away')).mockRejectedValueOnce(new Error('away'))
  new Abandoned().add('a', say, false)

  await vi.advanceTimersByTimeAsync(1000)
  expect(say).toHaveBeenCalledTimes(2)
  await vi.advanceTimersByTimeAsync(3000)
  expect(say).toHaveBeenCalledTimes(3)
  await vi.advanceTimersByTimeAsync(200_000)
  expect(say).toHaveBeenCalledTimes(3)
})

test('what a late copy may undo is said five times more', async () => {
  const say = vi.fn(async () => undefined)
  new Abandoned().add('a', say, true)

  await vi.advanceTimersByTimeAsync(200_000)
  expect(say).toHaveBeenCalledTimes(6)
})

test('a message for an attempt that ended has it abandoned again', async () => {
  const say = vi.fn(async () => undefined)
  const abandoned = new Abandoned()
  abandoned.add('a', say, false)
  await vi.advanceTimersByTimeAsync(1)

  abandoned.heard('a')
  abandoned.heard('another')
  expect(say).toHaveBeenCalledTimes(2)
})

test('an attempt is known for two minutes', async () => {
  const [say, other] = [vi.fn(async () => undefined), vi.fn(async () => undefined)]
  const abandoned = new Abandoned()
  abandoned.add('a', say, false)
  await vi.advanceTimersByTimeAsync(121_000)
  abandoned.add('b', other, false)

  abandoned.heard('a')
  abandoned.heard('b')
  expect([say, other].map(({ mock }) => mock.calls.length)).toEqual([1, 2])
})

test('nothing is said once it is closed, or the instance is', async () => {
  const say = vi.fn(async () => undefined)
  const abandoned = new Abandoned()
  abandoned.add('a', say, true)
  abandoned.close()
  const refused = vi.fn(() => Promise.reject(new DriverError('closed', 'closed')))
  new Abandoned().add('b', refused, true)

  await vi.advanceTimersByTimeAsync(200_000)
  expect([say, refused].map(({ mock }) => mock.calls.length)).toEqual([1, 1])
  expect(vi.getTimerCount()).toBe(0)
})
