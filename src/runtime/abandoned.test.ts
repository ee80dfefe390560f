import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Abandoned } from './abandoned.ts'
import { DriverError } from './errors.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

const away = new DriverError('unreachable', 'away')

test('an attempt that ended is abandoned once', async () => {
  const say = vi.fn(async () => undefined)
  new Abandoned().add('a', say, false)

  await vi.advanceTimersByTimeAsync(200_000)
  expect(say).toHaveBeenCalledTimes(1)
})

test('what could not be said is said again each second until it is heard', async () => {
  const say = vi.fn(async () => undefined)
  say.mockRejectedValueOnce(away).mockRejectedValueOnce(away)
  new Abandoned().add('a', say, false)

  await vi.advanceTimersByTimeAsync(1000)
  expect(say).toHaveBeenCalledTimes(2)
  await vi.advanceTimersByTimeAsync(1000)
  expect(say).toHaveBeenCalledTimes(3)
  await vi.advanceTimersByTimeAsync(200_000)
  expect(say).toHaveBeenCalledTimes(3)
})

test('in an outage one attempt a second is tried, however many have ended; after it all are said at once', async () => {
  let [isAway, tries] = [true, 0]
  const heard = new Set<number>()
  const abandoned = new Abandoned()
  for (let n = 0; n < 500; n++) {
    const say = async (): Promise<void> => {
      tries += 1
      if (isAway) throw away
      heard.add(n)
    }
    abandoned.add(String(n), say, n % 2 === 0)
  }
  await vi.advanceTimersByTimeAsync(0)
  tries = 0

  await vi.advanceTimersByTimeAsync(600_000)
  expect(tries).toBe(600)
  isAway = false
  await vi.advanceTimersByTimeAsync(1000)

  expect(heard.size).toBe(500)
  expect(tries).toBe(1100)
})

test('what is refused is forgotten after two minutes', async () => {
  const say = vi.fn(() => Promise.reject(new DriverError('forbidden', 'no')))
  new Abandoned().add('a', say, true)

  await vi.advanceTimersByTimeAsync(3_600_000)

  expect(say.mock.calls.length).toBeLessThanOrEqual(122)
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

test('of more than ten thousand that a store cannot hear the oldest are forgotten', async () => {
  let isAway = true
  const heard = new Set<number>()
  const abandoned = new Abandoned()
  for (let n = 0; n < 10_100; n++) {
    const say = async (): Promise<void> => {
      if (isAway) throw away
      heard.add(n)
    }
    abandoned.add(String(n), say, false)
  }
  await vi.advanceTimersByTimeAsync(130_000)
  isAway = false
  await vi.advanceTimersByTimeAsync(1000)

  expect(heard.size).toBeGreaterThan(9900)
  expect(heard.has(0)).toBe(false)
  expect(heard.has(10_099)).toBe(true)
})
