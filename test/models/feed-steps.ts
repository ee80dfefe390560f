import fc from 'fast-check'
import type { NewMessage } from './feed-model.ts'

export type Step =
  | { do: 'append'; messages: NewMessage[] }
  | { do: 'read'; reader: number; limit: number; includeClaimed: boolean }
  | { do: 'get' | 'claim' | 'extend' | 'settle'; at: number; graceMs: number }
  | { do: 'release' | 'ack' | 'remove'; at: number; ids: number[]; evenClaimed: boolean }
  | { do: 'advance'; ms: number }

const life = fc.constantFrom(0, 1000, 3000, 3000, 8000)
const message = fc.record({
  body: fc.constantFrom('a', 'bb', 'ccc'),
  ttl_ms: life,
  delay_ms: fc.constantFrom(0, 0, 0, 1000, 2500),
  key: fc.constantFrom('', '', '', 'k', 'l'),
})
const at = fc.nat(9)
/** The steps of a random history. */
export const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('append' as const),
    messages: fc.array(message, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({
    do: fc.constant('read' as const),
    reader: fc.nat(1),
    limit: fc.integer({ min: 1, max: 4 }),
    includeClaimed: fc.boolean(),
  }),
  fc.record({
    do: fc.constantFrom(
      'get' as const,
      'claim' as const,
      'claim' as const,
      'extend' as const,
      'settle' as const,
    ),
    at,
    graceMs: fc.constantFrom(0, 2000),
  }),
  fc.record({
    do: fc.constantFrom('release' as const, 'ack' as const, 'remove' as const),
    at,
    ids: fc.uniqueArray(at, { maxLength: 3 }),
    evenClaimed: fc.boolean(),
  }),
  fc.record({ do: fc.constant('advance' as const), ms: fc.constantFrom(1, 500, 1000, 2500, 5000, 11_000) }),
)
