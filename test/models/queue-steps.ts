import fc from 'fast-check'
import type { Spec } from './queue-job.ts'

export type Step =
  | { do: 'enqueueAlike'; count: number; again: boolean }
  | { do: 'enqueue'; specs: Spec[]; again: boolean }
  | { do: 'claim'; limit: number; leaseMs: number; backs: number[]; again: boolean }
  | { do: 'offer'; limit: number; leaseMs: number; again: boolean }
  | { do: 'retry'; backs: number[]; delayMs: number; again: boolean }
  | { do: 'fail'; backs: number[]; again: boolean }
  | { do: 'extend'; backs: number[]; leaseMs: number }
  | { do: 'cancel'; picks: number[] }
  | { do: 'requeue'; picks: number[] }
  | { do: 'requeueDead'; limit: number; drops: boolean }
  | { do: 'reprioritize'; picks: number[]; priority: number }
  | { do: 'tag'; pick: number; adds: boolean; tags: string[] }
  | { do: 'track'; picks: number[]; follows: boolean }
  | { do: 'configure'; paused: boolean; concurrency: number; retentionCount: number }
  | { do: 'configureGroup'; group: string; concurrency: number }
  | { do: 'advance'; ms: number }

const is = <T extends string>(what: T): fc.Arbitrary<T> => fc.constant(what)
const often = <T>(usual: T, ...others: T[]): fc.Arbitrary<T> =>
  fc.constantFrom(usual, usual, usual, ...others)

/** Which of the newest claims, and which of the newest jobs. */
const backs = fc.array(fc.nat(7), { minLength: 1, maxLength: 3 })
const picks = fc.array(fc.nat(12), { minLength: 1, maxLength: 3 })
const again = often(false, true)
const priority = often(0, 0, 1, 5, -1)
const leaseMs = often(5000, 1000, 60_000)

const tag = fc.constantFrom('red', 'blue', 'green')

const spec: fc.Arbitrary<Spec> = fc.record({
  payload: fc.constantFrom('', '[]', 'abc'),
  id: often('', 'i', 'j'),
  delay_ms: often(0, 300, 1000, 4000),
  priority,
  max_attempts: fc.constantFrom(1, 2, 3, 9),
  group: often('', 'a', 'b', 'c'),
  unique: often('', 'k', 'l'),
  until: fc.constantFrom('s', 'd', 'w'),
  window_ms: fc.constantFrom(500, 3000),
  replace: fc.boolean(),
  tags: often('', 'red', 'red\0blue'),
})

/** The steps of a random history. */
export const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: is('enqueueAlike'), count: fc.integer({ min: 1, max: 3 }), again }),
  },
  {
    weight: 10,
    arbitrary: fc.record({ do: is('enqueue'), specs: fc.array(spec, { minLength: 1, maxLength: 4 }), again }),
  },
  {
    weight: 16,
    arbitrary: fc.record({
      do: is('claim'),
      limit: fc.constantFrom(0, 1, 2, 3, 10),
      leaseMs,
      backs: fc.array(fc.nat(7), { maxLength: 3 }),
      again,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ do: is('offer'), limit: fc.constantFrom(1, 3, 10), leaseMs, again }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ do: is('retry'), backs, delayMs: fc.constantFrom(-1, 0, 700, 5000), again }),
  },
  { weight: 3, arbitrary: fc.record({ do: is('fail'), backs, again }) },
  { weight: 3, arbitrary: fc.record({ do: is('extend'), backs, leaseMs }) },
  { weight: 4, arbitrary: fc.record({ do: is('cancel'), picks }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: is('tag'),
      pick: fc.nat(12),
      adds: fc.boolean(),
      tags: fc.array(tag, { maxLength: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: is('track'), picks, follows: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: is('requeue'), picks }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: is('requeueDead'),
      limit: fc.integer({ min: 1, max: 4 }),
      drops: fc.boolean(),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: is('reprioritize'), picks, priority }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: is('configure'),
      paused: often(false, true),
      concurrency: often(0, 1, 3),
      retentionCount: fc.constantFrom(0, 2),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: is('configureGroup'),
      group: fc.constantFrom('a', 'b'),
      concurrency: fc.constantFrom(0, 1, 2),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      do: is('advance'),
      ms: fc.constantFrom(1, 300, 700, 1000, 5000, 60_000, -400, -7000),
    }),
  },
)
