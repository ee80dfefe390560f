import { expect, test } from 'vitest'
import { SuspendedTime } from './suspended.ts'

/** Two clocks that a test moves: the monotonic one and the wall clock. */
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

test('time that passes for both clocks is none of a suspension', () => {
  const { time, pass } = setup()

  pass(3_600_000)
  time.look()

  expect(time.totalMs).toBe(0)
  expect(time.since(0)).toBe(0)
})

test('what passes for the wall clock alone is a suspension', () => {
  const { clocks, time, pass } = setup()
  pass(10)
  clocks.wall += 60_000
  pass(10)

  expect(time.since(1000)).toBe(60_000)
  expect(time.totalMs).toBe(60_000)
})

test('of several suspensions those count that were noticed after an instant', () => {
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

test('a wall clock that is set back takes no suspension away, and hides none that follows', () => {
  const { clocks, time, pass } = setup()
  clocks.wall += 60_000
  time.look()
  clocks.wall -= 3_600_000
  time.look()
  pass(1000)
  clocks.wall += 2000

  expect(time.since(0)).toBe(62_000)
})

test('a wall clock that goes a little faster or slower is no suspension', () => {
  const { clocks, time, pass } = setup()

  for (let n = 0; n < 1000; n++) {
    pass(1000)
    clocks.wall += n % 2 === 0 ? 20 : -20
    time.look()
  }

  expect(time.totalMs).toBe(0)
})

test('a process that stands still between two clocks is not taken for suspended', () => {
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

test('suspensions without end are counted, and only the last of them told apart', () => {
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

test('who looks again looks only where the last look was not just before', () => {
  const { clocks, time, pass } = setup()
  time.look()
  clocks.wall += 60_000
  time.lookAgain(clocks.monotonic)
  expect(time.totalMs).toBe(0)
  pass(11)

  time.lookAgain(clocks.monotonic)

  expect(time.totalMs).toBe(60_000)
})
