import { expect, test } from 'vitest'
import { seeded } from '../../test/soak/random.ts'
import { type CounterChange, inSums, spreadSum } from './sums.ts'

const M = Number.MAX_SAFE_INTEGER

/** The value that each of them gets, for a counter that was `start`. */
function valuesOf(start: bigint, deltas: readonly number[]): bigint[] {
  const changes = deltas.map((delta): CounterChange => ({ id: 'a', delta, key: '' }))
  const values: bigint[] = []
  let value = start
  for (const sum of inSums(changes)) {
    value += BigInt(sum.delta)
    spreadSum(changes, sum, String(value), (member, after) => (values[member] = BigInt(after)))
  }
  return values
}

function expected(start: bigint, deltas: readonly number[]): bigint[] {
  let value = start
  return deltas.map((delta) => (value += BigInt(delta)))
}

test.each<[bigint, number[]]>([
  [0n, [-M, M, M - 1]],
  [0n, [M, -M, -M + 1]],
  [5n, [1, 2, 3]],
  [BigInt(M), [1, 1, -2, 0]],
  [2n ** 60n, [-M, M, M]],
])('each of the increments that travel together gets its own value: from %s by %j', (start, deltas) => {
  expect(valuesOf(start, deltas)).toEqual(expected(start, deltas))
})

test('for any increments of any counters', () => {
  const random = seeded(7)
  const anyDelta = (): number => Math.trunc((random() * 2 - 1) * M) - (random() < 0.5 ? 1 : 0)
  for (let at = 0; at < 2000; at += 1) {
    const deltas = Array.from({ length: 1 + Math.floor(random() * 6) }, () => Math.max(-M, anyDelta()))
    const start = BigInt(Math.max(-M, anyDelta()))
    expect(valuesOf(start, deltas)).toEqual(expected(start, deltas))
  }
})
