import { expect, test } from 'vitest'
import { choosePolicy, delaysOf, isRetryPolicy } from './retry-policy.ts'

test('by default: three at once, three after 5 seconds, then up to 30, three times 30', () => {
  expect(delaysOf(choosePolicy(undefined, undefined))).toEqual([
    0, 0, 0, 5, 5, 5, 5, 10, 15, 20, 25, 30, 30, 30,
  ])
})

test.each(['linear', 'arithmetic', 'geometric', 'exponential'])(
  '%s delays grow and stay in their range',
  (name) => {
    const policy = { minimum_delay: 2, maximum_delay: 200, retry_backoff_function: name }
    const delays = delaysOf(choosePolicy(policy, undefined)).slice(3, -3)
    expect(delays).toEqual(delays.toSorted((one, other) => one - other))
    expect([delays[0], Math.max(...delays) < 200]).toEqual([2, true])
  },
)

test('an empty range, or a very long one, makes no endless list', () => {
  const same = choosePolicy(
    { minimum_delay: 7, maximum_delay: 7, retry_backoff_function: 'geometric' },
    undefined,
  )
  expect(delaysOf(same)).toEqual([0, 0, 0, 7, 7, 7, 7, 7, 7])
  expect(delaysOf(choosePolicy({ maximum_delay: 86_400 }, undefined)).length).toBeLessThan(200)
})

test("the policy of the subscription is used, unless one of the two says that the queue's overrides it", () => {
  const own = { minimum_delay: 6 }
  const queues = { minimum_delay: 7 }
  expect(choosePolicy(own, queues).minimum_delay).toBe(6)
  expect(choosePolicy(undefined, queues).minimum_delay).toBe(7)
  expect(choosePolicy(own, { ...queues, ignore_subscription_override: true }).minimum_delay).toBe(7)
  expect(choosePolicy({ ...own, ignore_subscription_override: true }, queues).minimum_delay).toBe(7)
})

test.each<unknown>([
  null,
  [],
  'linear',
  { retries_with_no_delay: -1 },
  { retries_with_no_delay: 1000 },
  { minimum_delay: 0 },
  { minimum_delay: '5' },
  { minimum_delay: 31 },
  { maximum_delay: 4 },
  { ignore_subscription_override: 1 },
  { retry_backoff_function: 'cubic' },
  { retry_backoff_function: 'toString' },
  { constructor: 1 },
  { unknown: 1 },
])('%j is not a retry policy', (value) => {
  expect(isRetryPolicy(value)).toBe(false)
})
