import { expect, test } from 'vitest'
import { ExtensionPlan } from './extension-plan.ts'

function planOf(leftMs: number, leaseMs: number, holdUntil = Infinity): ExtensionPlan {
  const plan = new ExtensionPlan(holdUntil)
  plan.renew(leftMs, leaseMs, 0)
  return plan
}

test.each([10, 15, 20, 30, 60])('a lease of %i ms is extended before half of it has passed', (leaseMs) => {
  const { at, togetherAt } = planOf(leaseMs - 1, leaseMs)

  expect(at).toBeLessThan(leaseMs / 2)
  expect(togetherAt).toBeLessThanOrEqual(at)
})

test('renewals of a lease that is about to expire are some time apart', () => {
  expect(planOf(1, 1000).at).toBe(20)
  expect(planOf(1, 1000).togetherAt).toBe(20)
})

test('a lease that lasts beyond its planned length is left alone until it does not', () => {
  expect(planOf(60_000, 3000)).toMatchObject({ at: 58_000, togetherAt: 57_500 })
  expect(planOf(60_000, 3000, 60_000)).toMatchObject({ at: Infinity, togetherAt: Infinity })
})
