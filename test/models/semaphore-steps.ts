import fc from 'fast-check'

export const LEASE_MS = 5000

export type Step =
  | { do: 'acquire'; who: number; limit: number; waits: boolean }
  | { do: 'abandon'; who: number }
  | { do: 'release'; back: number }
  | { do: 'extend'; back: number; leaseMs: number }
  | { do: 'resize'; limit: number }
  | { do: 'serve' }
  | { do: 'clear' }
  | { do: 'advance'; ms: number }

const who = fc.nat(9)
const back = fc.nat(5)
const acquire = fc.record({
  do: fc.constant('acquire' as const),
  who,
  limit: fc.constantFrom(3, 3, 3, 3, 4, 2),
  waits: fc.constantFrom(true, true, false),
})
const extend = fc.record({
  do: fc.constant('extend' as const),
  back,
  leaseMs: fc.constantFrom(500, 2000, LEASE_MS, 9000),
})
const advance = fc.record({
  do: fc.constant('advance' as const),
  ms: fc.constantFrom(1, 999, 1000, 1001, 2500, 5000, 11_000),
})
/** The steps of a random history. */
export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 16, arbitrary: acquire },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('abandon' as const), who }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('release' as const), back }) },
  { weight: 4, arbitrary: extend },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('resize' as const), limit: fc.integer({ min: 1, max: 6 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('serve' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('clear' as const) }) },
  { weight: 6, arbitrary: advance },
)
