import { describe, expect, test, vi } from 'vitest'
import { Clearings } from '../calls/clearings.ts'
import type { Unit } from '../connection/unit.ts'
import { AmbiguousError, DriverError } from '../errors/errors.ts'
import { End } from '../keeper/grant.ts'
import { Countdown } from './countdown.ts'

/** Of a lease of a minute that began just now, when the server's clock was at 1000. */
function setup(): { countdown: Countdown; clearings: Clearings } {
  const clearings = new Clearings()
  const unit = { beginning: 'unit', runtime: { clearings } } as unknown as Unit
  return { countdown: new Countdown(unit, new End(performance.now() + 60_000), 61_000), clearings }
}

const left = ({ leftMs }: Countdown): number => Math.round(leftMs / 1000)

describe('while an extension is under way', () => {
  test('the earlier end applies, and afterwards the noted one', async () => {
    const { countdown } = setup()

    await countdown.whileAsked(10_000, async () => {
      expect(left(countdown)).toBe(10)
      countdown.note(new End(performance.now() + 90_000), { nowMs: 2000, expiresAtMs: 92_000 })
      expect(left(countdown)).toBe(10)
    })

    expect([left(countdown), countdown.expiresAtMs]).toEqual([90, 92_000])
  })

  test.each<[string, Error, number]>([
    ['rejected leaves the end', new DriverError('forbidden', 'no right'), 60],
    ['not answered leaves the earlier one', new AmbiguousError('the call'), 10],
  ])('a request that is %s', async (_, failure, expected) => {
    const { countdown } = setup()

    await expect(countdown.whileAsked(10_000, () => Promise.reject(failure))).rejects.toBe(failure)

    expect(left(countdown)).toBe(expected)
    expect(countdown.isAsked).toBe(false)
  })

  test('an extension carried out earlier does not override it, although it is answered later', async () => {
    const { countdown } = setup()
    const earlier = new End(performance.now() + 30_000)
    await new Promise((resolve) => setTimeout(resolve, 2))

    countdown.note(new End(performance.now() + 1000), { nowMs: 2001, expiresAtMs: 3001 })
    countdown.note(earlier, { nowMs: 2000, expiresAtMs: 32_000 })

    expect([left(countdown), countdown.expiresAtMs]).toEqual([1, 3001])
  })
})

test('it is over once this instance has deleted the unit, and not by requests to another unit', async () => {
  const { countdown, clearings } = setup()
  await clearings.run(['another unit'], async () => undefined)
  expect(left(countdown)).toBe(60)

  await clearings.run(['unit'], async () => undefined)

  expect(countdown.leftMs).toBe(0)
  expect(countdown.latestEndsAt).toBeLessThanOrEqual(performance.now())
})

test('it lasts as long with a clock that a test has replaced', () => {
  vi.useFakeTimers()
  try {
    const { countdown } = setup()

    expect(left(countdown)).toBe(60)
    vi.advanceTimersByTime(20_000)
    expect(left(countdown)).toBe(40)
  } finally {
    vi.useRealTimers()
  }
})
