// The elements that one call takes, of any sizes from a byte to the largest body, by the fragment alone: the scripts
// that include it, and their tests, cover how it walks.

import fc from 'fast-check'
import { Redis } from 'ioredis'
import { afterAll, expect, inject, test } from 'vitest'
import { readText } from '../conformance/files.ts'
import { countOf } from '../proof.ts'

const CALL_BYTES = 4 * 1024 * 1024
const INLINE_BYTES = 16 * 1024
const MAX_BODY_BYTES = CALL_BYTES

/** Walks over sizes as a script does over elements, in commands of many where `most` is their greatest size. */
const WALK = `${readText('../../lua/shared/budget.lua')}${readText('../../lua/shared/budget.lua')}
local limit, inline = tonumber(ARGV[1]), ARGV[2] == '1'
local budget, at, read = budget_of(limit), 3, 0
while at <= #ARGV and is_left(budget) do
  local most = inline and at_once(budget) or 1
  for _ = 1, math.min(most, #ARGV - at + 1) do
    spend(budget, 1, tonumber(ARGV[at]))
    read = read + tonumber(ARGV[at])
    at = at + 1
  end
end
return { at - 3, read }`

const client = new Redis({ host: '127.0.0.1', port: inject('redisPort') })

afterAll(() => client.disconnect())

async function walk(sizes: readonly number[], limit: number, inline: boolean): Promise<[number, number]> {
  return (await client.eval(WALK, 0, limit, inline ? 1 : 0, ...sizes)) as [number, number]
}

function sum(sizes: readonly number[]): number {
  return sizes.reduce((total, size) => total + size, 0)
}

const sizesTo = (most: number): fc.Arbitrary<number[]> =>
  fc.array(fc.oneof(fc.integer({ min: 1, max: most }), fc.constantFrom(1, most)), { maxLength: 1200 })
const limits = fc.oneof(fc.integer({ min: 1, max: 1000 }), fc.constantFrom(1, 1000))
const often = { numRuns: countOf(20_000, 300) }

test('a call takes elements in order, at least one, and none after its budget is used up', async () => {
  const property = fc.asyncProperty(sizesTo(MAX_BODY_BYTES), limits, async (sizes, limit) => {
    const [taken] = await walk(sizes, limit, false)

    expect(taken).toBeGreaterThanOrEqual(Math.min(1, sizes.length))
    expect(taken).toBeLessThanOrEqual(limit)
    expect(sum(sizes.slice(0, taken - 1))).toBeLessThan(CALL_BYTES)
    // It ends for a reason.
    const isUsedUp = taken === limit || sum(sizes.slice(0, taken)) >= CALL_BYTES
    expect(isUsedUp || taken === sizes.length).toBe(true)
  })

  await fc.assert(property, often)
})

test('a read of many elements returns at most the bytes of a call plus one element', async () => {
  const property = fc.asyncProperty(sizesTo(INLINE_BYTES), limits, async (sizes, limit) => {
    const [taken, read] = await walk(sizes, limit, true)

    expect(read).toBeLessThan(CALL_BYTES + INLINE_BYTES)
    const isUsedUp = taken === limit || read >= CALL_BYTES
    expect(isUsedUp || taken === sizes.length).toBe(true)
  })

  await fc.assert(property, often)
})

test('calls that continue from each other take each element once', async () => {
  const property = fc.asyncProperty(sizesTo(MAX_BODY_BYTES), limits, async (sizes, limit) => {
    let [from, calls] = [0, 0]
    while (from < sizes.length) {
      from += (await walk(sizes.slice(from), limit, false))[0]
      calls += 1
    }

    expect(from).toBe(sizes.length)
    // Any two calls that follow one another are worth one whole budget.
    expect(calls).toBeLessThanOrEqual(2 * (sum(sizes) / CALL_BYTES + sizes.length / limit) + 1)
  })

  await fc.assert(property, { numRuns: countOf(500, 30) })
})
