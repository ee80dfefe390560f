import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Deadlines, type Due } from './deadlines.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

const DAY_MS = 86_400_000

/**
 * Adds itself again when it is given up, as a batcher does; only a limited number of times, so that a fault ends the
 * test.
 */
function setup(inMs: number): { deadlines: Deadlines; reasons: (Error | undefined)[] } {
  const deadlines = new Deadlines()
  const reasons: (Error | undefined)[] = []
  const due: Due = {
    by: performance.now() + inMs,
    giveUp: (reason) => {
      reasons.push(reason)
      if (reason !== undefined && reasons.length < 100) deadlines.add(due)
    },
  }
  deadlines.add(due)
  return { deadlines, reasons }
}

test('an entry that is added again while all are given up is given up once', () => {
  const { deadlines, reasons } = setup(1000)
  const reason = new Error('closed')

  deadlines.giveUpAll(reason)

  expect(reasons).toEqual([reason])
})

test('when all entries are given up, no timer is left', () => {
  const deadlines = new Deadlines()
  deadlines.add({ by: performance.now() + 1000, giveUp: () => undefined })

  deadlines.giveUpAll(new Error('closed'))

  expect(vi.getTimerCount()).toBe(0)
})

test('a deadline of sixty days is kept', () => {
  const { reasons } = setup(60 * DAY_MS)

  vi.advanceTimersByTime(60 * DAY_MS - 1)
  expect(reasons).toEqual([])
  vi.advanceTimersByTime(3)
  expect(reasons).toEqual([undefined])
})

test('an entry added after its deadline gets some extra time', () => {
  const { reasons } = setup(-1000)

  vi.advanceTimersByTime(150)
  expect(reasons).toEqual([])
  vi.advanceTimersByTime(100)
  expect(reasons).toEqual([undefined])
})

test('what becomes due during the extra time of a stall, because of another one, gets extra time, too', () => {
  const now = performance.now.bind(performance)
  let stalledMs = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now() + stalledMs)
  const deadlines = new Deadlines()
  const ended: string[] = []
  const add = (name: string, inMs: number): void =>
    deadlines.add({ by: performance.now() + inMs, giveUp: () => ended.push(name) })
  add('first', 100)
  stalledMs += 1000
  vi.advanceTimersByTime(100)
  add('second', 50)

  stalledMs += 1000
  vi.advanceTimersByTime(201)

  expect(ended).toEqual(['first'])
  vi.advanceTimersByTime(300)
  expect(ended).toEqual(['first', 'second'])
})
