import fc from 'fast-check'
import type { Terms } from './rate-limit-model.ts'

/** `handle`: which of the limits a caller names, a bit each. */
export type Step =
  | { do: 'advance'; ms: number }
  | { do: 'take'; handle: number; cost: number; alone: boolean; count: number }
  | { do: 'get'; handle: number; cost: number }
  | { do: 'refund'; back: number; cost: number }
  | { do: 'release'; back: number }

const windowMs = fc.constantFrom(1, 7, 64, 1000, 3000, 60_000)

const gcra = fc.record({
  algorithm: fc.constant('gcra' as const),
  limit: fc.integer({ min: 1, max: 11 }),
  window_ms: windowMs,
  burst: fc.integer({ min: 1, max: 9 }),
})
const others = fc.record({
  algorithm: fc.constantFrom('sliding-window' as const, 'concurrency' as const),
  limit: fc.integer({ min: 1, max: 7 }),
  window_ms: windowMs,
})

const limit = fc.oneof(
  gcra,
  others.map((each) => ({ ...each, burst: each.limit })),
)

export const limits: fc.Arbitrary<Terms[]> = fc
  .array(limit, { minLength: 1, maxLength: 3 })
  .map((all) => all.map((each, at) => ({ name: `l${at}`, ...each })))

const cost = fc.integer({ min: 1, max: 5 })
// Takes that are judged together.
const count = fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 12 }))
const back = fc.integer({ min: 0, max: 5 })
const handle = fc.integer({ min: 1, max: 7 })

export const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('take' as const), handle, cost, alone: fc.boolean(), count }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('get' as const), handle, cost }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('refund' as const), back, cost }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('release' as const), back }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      ms: fc.constantFrom(0.001, 0.333, 1, 2, 9, 61, 333, 999, 1000, 20_000, 61_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      ms: fc.constantFrom(-0.4, -70, -1001, -10_000, -3_600_000),
    }),
  },
)
