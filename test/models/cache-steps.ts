// The steps of a random history of a key of a cache.

import fc from 'fast-check'

export type Step =
  | { do: 'elect'; id: string; seen: number; waited: number; tags: string; repeated: boolean }
  | { do: 'store'; back: number; version: number; tags: string; held: boolean; repeated: boolean }
  | { do: 'set'; version: number; tags: string; held: boolean }
  | { do: 'extend' | 'hold'; back: number; repeated: boolean }
  | { do: 'fail'; id: string; repeated: boolean }
  | { do: 'invalidate' | 'invalidate-tag' | 'inspect' }
  | { do: 'advance'; ms: number }

const id = fc.constantFrom('i', 'j', 'k')
/** The token that was seen so many tokens ago; 9: none. */
const back = fc.constantFrom(0, 0, 1, 2, 9)
const version = fc.constantFrom(0, 0, 0, 1, 2, 3)
const tags = fc.constantFrom('', '', 'x')
const repeated = fc.boolean()
/** In the flags of a value: levels may hold it. */
export const HELD = 4
/** Whether the writer keeps a copy itself. */
const held = fc.constantFrom(false, false, true)

export const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('elect' as const), id, seen: back, waited: back, tags, repeated }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('store' as const), back, version, tags, held, repeated }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('set' as const), version, tags, held }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('extend' as const), back, repeated }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('hold' as const), back, repeated }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('fail' as const), id, repeated }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('invalidate' as const, 'inspect' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('invalidate-tag' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      ms: fc.constantFrom(1, 499, 500, 999, 1000, 3000, 5000, -300),
    }),
  },
)
