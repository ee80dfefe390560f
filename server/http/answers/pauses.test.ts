import { setImmediate as passOfTheLoop } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { AnswerPauses } from './pauses.ts'
import { sharesOf } from './shares.ts'
import { Unsent } from './unsent.ts'

const MIB = 1024 * 1024

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

function setup(): { pauses: AnswerPauses; ended: () => number } {
  const pauses = new AnswerPauses()
  let ended = 0
  pauses.onEnd(() => (ended += 1))
  return { pauses, ended: () => ended }
}

test('after a large answer there is a pause, longer the more has arrived, and after small answers none', async () => {
  const { pauses, ended } = setup()

  pauses.came(1000)
  expect(pauses.isPause).toBe(false)
  pauses.came(2 * MIB)
  expect(pauses.isPause).toBe(true)
  await passOfTheLoop()
  vi.advanceTimersByTime(19)
  expect([pauses.isPause, ended()]).toEqual([true, 0])
  vi.advanceTimersByTime(1)
  expect([pauses.isPause, ended()]).toEqual([false, 1])
})

test('a pause in which something arrived is followed by another one, and between the two the waiting requests are sent', async () => {
  const { pauses, ended } = setup()
  let hasRoom = false
  pauses.onEnd(() => (hasRoom = !pauses.isPause))

  pauses.came(MIB)
  await passOfTheLoop()
  pauses.came(2 * MIB)
  vi.advanceTimersByTime(10)
  expect([hasRoom, pauses.isPause, ended()]).toEqual([true, true, 1])
  await passOfTheLoop()
  vi.advanceTimersByTime(19)
  expect([pauses.isPause, ended()]).toEqual([true, 1])
  vi.advanceTimersByTime(1)
  expect([pauses.isPause, ended()]).toEqual([false, 2])
})

test('in a pause no tenant has room for a large answer, and after it the waiting requests are sent', async () => {
  const shares = sharesOf(new Unsent())
  let asked = 0
  shares.onRoom(() => (asked += 1))

  expect(shares.hasRoom('tenant')).toBe(true)
  shares.came(MIB)
  expect(shares.hasRoom('tenant')).toBe(false)
  await passOfTheLoop()
  vi.advanceTimersByTime(10)
  expect([shares.hasRoom('tenant'), asked]).toEqual([true, 1])
})
