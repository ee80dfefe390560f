import { expect, test } from 'vitest'
import { SuspendedTime } from './suspended.ts'

/** Two clocks under control of the test: the monotonic one and the wall clock. */
function setup() {
  const clocks = { monotonic: 1000, wall: 1_700_000_000_000 }
  const time = new SuspendedTime(
    () => clocks.monotonic,
    () => clocks.wall,
  )
  const pass = (ms: number): void => {
    clocks.monotonic += ms
    clocks.wall += ms
  }
  return { clocks, time, pass }
}

test('time that passes on both clocks is no suspension', () => {
  const { time, pass } = setup()

  pass(3_600_000)
  time.look()

  expect(time.totalMs).toBe(0)
  expect(time.since(0)).toBe(0)
})

test('time that passes on the wall clock alone is a suspension', () => {
  const { clocks, time, pass } = setup()
  pass(10)
  clocks.wall += 60_000
  pass(10)

  expect(time.since(1000)).toBe(60_000)
  expect(time.totalMs).toBe(60_000)
})

test('only suspensions noticed after the given time are counted', () => {
  const { clocks, time, pass } = setup()
  clocks.wall += 60_000
  time.look()
  pass(100)
  const between = clocks.monotonic
  pass(100)
  clocks.wall += 5000

  expect(time.since(between)).toBe(5000)
  expect(time.since(0)).toBe(65_000)
  expect(time.since(clocks.monotonic)).toBe(0)
})

test('a wall clock that is set back removes no suspension, and hides no later one', () => {
  const { clocks, time, pass } = setup()
  clocks.wall += 60_000
  time.look()
  clocks.wall -= 3_600_000
  time.look()
  pass(1000)
  clocks.wall += 2000

  expect(time.since(0)).toBe(62_000)
})

test('a slightly faster or slower wall clock is no suspension', () => {
  const { clocks, time, pass } = setup()

  for (let n = 0; n < 1000; n++) {
    pass(1000)
    clocks.wall += n % 2 === 0 ? 20 : -20
    time.look()
  }

  expect(time.totalMs).toBe(0)
})

test('a stall between reading the two clocks is no suspension', () => {
  const { clocks, pass } = setup()
  let stands = false
  const time = new SuspendedTime(
    () => {
      const now = clocks.monotonic
      if (stands) pass(30_000)
      stands = false
      return now
    },
    () => clocks.wall,
  )
  stands = true

  time.look()

  expect(time.totalMs).toBe(0)
})

test('endless suspensions are counted, and only the last ones are distinguished', () => {
  const { clocks, time, pass } = setup()
  for (let n = 0; n < 1000; n++) {
    pass(10)
    clocks.wall += 100
    time.look()
  }

  expect(time.totalMs).toBe(100_000)
  expect(time.since(clocks.monotonic - 15)).toBe(200)
  expect(time.since(0)).toBe(100_000)
})

test('a repeated check is skipped right after another one', () => {
  const { clocks, time, pass } = setup()
  time.look()
  clocks.wall += 60_000
  time.lookAgain(clocks.monotonic)
  expect(time.totalMs).toBe(0)
  pass(11)

  time.lookAgain(clocks.monotonic)

  expect(time.totalMs).toBe(60_000)
})
