import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Abandoned } from './abandoned.ts'
import { DriverError } from '../errors/errors.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

const away = new DriverError('unreachable', 'away')

test('an ended attempt is abandoned once', async () => {
  const say = vi.fn(async () => undefined)
  new Abandoned().add('a', { abandon: say }, false)

  await vi.advanceTimersByTimeAsync(200_000)
  expect(say).toHaveBeenCalledTimes(1)
})

test('a failed call is retried each second until it succeeds', async () => {
  const say = vi.fn(async () => undefined)
  say.mockRejectedValueOnce(away).mockRejectedValueOnce(away)
  new Abandoned().add('a', { abandon: say }, false)

  await vi.advanceTimersByTimeAsync(1000)
  expect(say).toHaveBeenCalledTimes(2)
  await vi.advanceTimersByTimeAsync(1000)
  expect(say).toHaveBeenCalledTimes(3)
  await vi.advanceTimersByTimeAsync(200_000)
  expect(say).toHaveBeenCalledTimes(3)
})

test('in an outage one call a second is tried, however many attempts have ended; afterwards all are made at once', async () => {
  let [isAway, tries] = [true, 0]
  const heard = new Set<number>()
  const abandoned = new Abandoned()
  for (let n = 0; n < 500; n++) {
    const say = async (): Promise<void> => {
      tries += 1
      if (isAway) throw away
      heard.add(n)
    }
    abandoned.add(String(n), { abandon: say }, n % 2 === 0)
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

test('a rejected call is dropped after two minutes', async () => {
  const say = vi.fn(() => Promise.reject(new DriverError('forbidden', 'no')))
  new Abandoned().add('a', { abandon: say }, true)

  await vi.advanceTimersByTimeAsync(3_600_000)

  expect(say.mock.calls.length).toBeLessThanOrEqual(122)
})

test('rejected calls do not delay unsent ones when the store is back', async () => {
  const abandoned = new Abandoned()
  for (let n = 0; n < 1000; n++) {
    const say = (): Promise<never> => Promise.reject(new DriverError('forbidden', 'no'))
    abandoned.add(`refused ${n}`, { abandon: say }, false)
  }
  await vi.advanceTimersByTimeAsync(0)
  const say = vi.fn(async () => undefined)
  say.mockRejectedValueOnce(away)
  abandoned.add('a', { abandon: say }, false)

  await vi.advanceTimersByTimeAsync(1000)

  expect(say).toHaveBeenCalledTimes(2)
})

test('a node that stays unreachable does not delay calls to one that is back', async () => {
  const abandoned = new Abandoned()
  for (let n = 0; n < 1000; n++) {
    const say = (): Promise<never> => Promise.reject(away)
    abandoned.add(`away ${n}`, { abandon: say, node: 'one' }, false)
  }
  await vi.advanceTimersByTimeAsync(0)
  const says = [1, 2].map(() => vi.fn(async () => undefined).mockRejectedValueOnce(away))
  for (const [n, say] of says.entries()) abandoned.add(`back ${n}`, { abandon: say, node: 'other' }, false)

  await vi.advanceTimersByTimeAsync(1000)

  expect(says.map(({ mock }) => mock.calls.length)).toEqual([2, 2])
})

test('a store that rejects one of the unsent calls is reachable: all others are made', async () => {
  const abandoned = new Abandoned()
  const refusedNow = vi.fn(() => Promise.reject(new DriverError('forbidden', 'no')))
  refusedNow.mockRejectedValueOnce(away)
  const say = vi.fn(async () => undefined).mockRejectedValueOnce(away)
  abandoned.add('a', { abandon: refusedNow }, false)
  abandoned.add('b', { abandon: say }, false)

  await vi.advanceTimersByTimeAsync(1000)

  expect(say).toHaveBeenCalledTimes(2)
})

test('a call made because of a message is repeated five times if a late copy may undo it', async () => {
  const say = vi.fn(async () => undefined)
  say.mockRejectedValueOnce(away)
  const abandoned = new Abandoned()
  abandoned.add('a', { abandon: say }, true)
  await vi.advanceTimersByTimeAsync(0)

  abandoned.heard('a')
  await vi.advanceTimersByTimeAsync(200_000)

  expect(say).toHaveBeenCalledTimes(7)
})

test('a call that a late copy may undo is repeated five times', async () => {
  const say = vi.fn(async () => undefined)
  new Abandoned().add('a', { abandon: say }, true)

  await vi.advanceTimersByTimeAsync(200_000)
  expect(say).toHaveBeenCalledTimes(6)
})

test('a message for an ended attempt has it abandoned again', async () => {
  const say = vi.fn(async () => undefined)
  const abandoned = new Abandoned()
  abandoned.add('a', { abandon: say }, false)
  await vi.advanceTimersByTimeAsync(1)

  abandoned.heard('a')
  abandoned.heard('another')
  expect(say).toHaveBeenCalledTimes(2)
})

test('an attempt is known for two minutes after its last call, and forgotten as others end later', async () => {
  const says = ['a', 'b', 'c'].map(() => vi.fn(async () => undefined))
  const [a = vi.fn(), b = vi.fn(), c = vi.fn()] = says
  const abandoned = new Abandoned()
  abandoned.add('a', { abandon: a }, false)
  await vi.advanceTimersByTimeAsync(119_000)
  abandoned.heard('a')
  for (const [id, abandon] of [['b', b] as const, ['c', c] as const]) {
    await vi.advanceTimersByTimeAsync(121_000)
    abandoned.add(id, { abandon }, false)
    await vi.advanceTimersByTimeAsync(0)
  }

  for (const id of ['a', 'b', 'c']) abandoned.heard(id)
  expect(says.map(({ mock }) => mock.calls.length)).toEqual([2, 2, 2])
})

test('no calls are made once it is closed, or the instance is', async () => {
  const say = vi.fn(async () => undefined)
  const abandoned = new Abandoned()
  abandoned.add('a', { abandon: say }, true)
  abandoned.close()
  const refused = vi.fn(() => Promise.reject(new DriverError('closed', 'closed')))
  new Abandoned().add('b', { abandon: refused }, true)

  await vi.advanceTimersByTimeAsync(200_000)
  expect([say, refused].map(({ mock }) => mock.calls.length)).toEqual([1, 1])
  expect(vi.getTimerCount()).toBe(0)
})

/** Attempts that end while the store is unreachable. */
function endedInOutage(count: number): {
  abandoned: Abandoned
  heard: Set<number>
  goOn: () => Promise<unknown>
} {
  let isAway = true
  const heard = new Set<number>()
  const abandoned = new Abandoned()
  for (let n = 0; n < count; n++) {
    const say = async (): Promise<void> => {
      if (isAway) throw away
      heard.add(n)
    }
    abandoned.add(String(n), { abandon: say }, false)
  }
  const goOn = (): Promise<unknown> => {
    isAway = false
    return vi.advanceTimersByTimeAsync(1000)
  }
  return { abandoned, heard, goOn }
}

test('no unsent call is dropped, however many attempts end after it', async () => {
  const { abandoned, heard, goOn } = endedInOutage(20_000)
  await vi.advanceTimersByTimeAsync(130_000)
  for (let n = 0; n < 20_000; n++) abandoned.add(`heard ${n}`, { abandon: async () => undefined }, false)
  await vi.advanceTimersByTimeAsync(0)

  await goOn()

  expect(heard.size).toBe(20_000)
})

test('of more than a hundred thousand unsent calls the newest are dropped', async () => {
  const { heard, goOn } = endedInOutage(100_100)
  await vi.advanceTimersByTimeAsync(0)

  await goOn()

  expect([heard.size, heard.has(0), heard.has(100_099)]).toEqual([100_000, true, false])
})

test('a call that a late copy may undo is repeated five times, however many attempts end in the meantime', async () => {
  const say = vi.fn(async () => undefined)
  const abandoned = new Abandoned()
  abandoned.add('a', { abandon: say }, true)
  await vi.advanceTimersByTimeAsync(1)
  for (let n = 0; n < 20_000; n++) abandoned.add(`b${n}`, { abandon: async () => undefined }, false)

  await vi.advanceTimersByTimeAsync(60_000)
  abandoned.add('c', { abandon: async () => undefined }, false)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(say).toHaveBeenCalledTimes(6)
})

test('the newest ten thousand attempts are known, and not more than twice as many', async () => {
  const abandoned = new Abandoned()
  const says = Array.from({ length: 25_000 }, () => vi.fn(async () => undefined))
  for (const [n, say] of says.entries()) {
    abandoned.add(String(n), { abandon: say }, false)
    if (n % 1000 === 999) await vi.advanceTimersByTimeAsync(0)
  }
  await vi.advanceTimersByTimeAsync(0)

  for (const n of says.keys()) abandoned.heard(String(n))
  const known = says.map(({ mock }) => mock.calls.length === 2)
  expect(known.slice(-10_000)).not.toContain(false)
  expect(known.filter(Boolean).length).toBeLessThanOrEqual(20_000)
})
