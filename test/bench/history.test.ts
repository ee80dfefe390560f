import { expect, test } from 'vitest'
import type { Crowd, Wait } from '../../bench/locks/crowd.ts'
import { jain, toHistory } from '../../bench/locks/history.ts'

type Times = readonly [waiter: number, askedAtMs: number, grantedAtMs: number, releasedAtMs: number]

function crowdOf(...times: readonly Times[]): Crowd {
  const waits = times.map(
    ([waiter, askedAtMs, grantedAtMs, releasedAtMs]): Wait => ({
      waiter,
      askedAtMs,
      grantedAtMs,
      releasedAtMs,
    }),
  )
  return { waits, tries: waits.length, errors: [], fromMs: 0, untilMs: 1000 }
}

test('a second holder is counted only while the first one holds', () => {
  const overlapping = toHistory(crowdOf([0, 0, 1, 5], [1, 0, 4, 8]), 2, 1)
  const inTurn = toHistory(crowdOf([0, 0, 1, 5], [1, 0, 5, 8]), 2, 1)

  expect(overlapping).toMatchObject({ mostAtOnce: 2, overLimit: 1 })
  expect(inTurn).toMatchObject({ mostAtOnce: 1, overLimit: 0 })
})

test('as many holders as permits are not over the limit', () => {
  const waits: Times[] = [0, 1, 2].map((waiter) => [waiter, 0, waiter, 10])

  expect(toHistory(crowdOf(...waits), 3, 3)).toMatchObject({ mostAtOnce: 3, overLimit: 0 })
  expect(toHistory(crowdOf(...waits), 3, 2)).toMatchObject({ mostAtOnce: 3, overLimit: 1 })
})

test('a wait is as long as the acquisitions of other waiters in the meantime', () => {
  const history = toHistory(crowdOf([0, 0, 1, 2], [0, 2, 3, 4], [1, 1, 5, 6], [1, 6, 7, 8]), 2, 1)

  expect(history).toMatchObject({ acquisitions: 4, maxWaitCycles: 2, maxWaitMs: 4 })
})

test('a waiter at the end of the run has waited until then, and got nothing', () => {
  const history = toHistory(crowdOf([0, 0, 1, 900], [1, 100, 1200, 1201]), 2, 1)

  expect(history).toMatchObject({ acquisitions: 1, perSecond: 1, maxWaitMs: 900, starved: 1 })
})

test('the lock was handed off only to a process that waited at the release', () => {
  const history = toHistory(crowdOf([0, 0, 1, 10], [1, 5, 12, 20], [0, 30, 40, 50]), 2, 1)

  expect(history.handOffsMs).toEqual([2])
})

test('the fairness index is 1 for equal shares and 1/n when one waiter gets everything', () => {
  expect(jain([3, 3, 3, 3])).toBe(1)
  expect(jain([8, 0, 0, 0])).toBe(0.25)
})
