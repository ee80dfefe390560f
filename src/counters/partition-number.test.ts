// The partition count of counters: all processes must use the same one, and a different count is rejected.

import { describe, expect, test } from 'vitest'
import { setup } from '../../test/counters-fixture.ts'
import { setup as shown } from '../../test/shown-fixture.ts'
import { partitionOf } from '../runtime/partitions/partition-hash.ts'

/** Ids that are in different partitions under the two counts: ids in the same partition do not conflict. */
function idsBetween(one: number, other: number): number[] {
  const all = Array.from({ length: 40 }, (_, at) => at + 1)
  return all.filter((id) => partitionOf(String(id), one) !== partitionOf(String(id), other))
}

const REFUSAL = /^partitions must be 4, as stored, until it is cleared$/

describe('the number of partitions of counters', () => {
  test('is the same for all processes, until the counters are cleared', async () => {
    const { counters, another, stored } = await setup({ partitions: 4 })
    const ids = idsBetween(4, 8)
    for (const id of ids) await counters.increment(id)
    const other = another({ partitions: 8 })

    for (const id of ids) await expect(other.increment(id)).rejects.toThrow(REFUSAL)
    await expect(other.getMany(ids)).rejects.toThrow(REFUSAL)
    await expect(other.flush()).rejects.toThrow(REFUSAL)
    await expect(other.inspect()).rejects.toThrow(REFUSAL)
    await expect(other.clear()).rejects.toThrow(REFUSAL)

    await counters.flush()
    expect(ids.map(stored)).toEqual(ids.map(() => 1))
    expect([await counters.clear(), await counters.clear()]).toEqual([true, false])
    expect(await other.increment(ids[0] as number)).toBe(2)
  })

  test.each([
    [8, 4],
    [2, 4],
  ])('is rejected in a process that has missed a clear, and the change from %i to %i', async (old, fresh) => {
    const { counters: stale, another, stored } = await setup({ partitions: old })
    const ids = idsBetween(old, fresh)
    for (const id of ids) await stale.increment(id)
    await stale.flush()
    await another({ partitions: old }).clear()
    const current = another({ partitions: fresh })
    for (const id of ids) await current.increment(id)

    for (const id of ids) await expect(stale.increment(id)).rejects.toThrow(REFUSAL)

    await current.flush()
    expect(ids.map(stored)).toEqual(ids.map(() => 2))
    expect(await current.getMany(ids)).toEqual(ids.map(() => 2))
  })

  test('is looked up once, not with each load', async () => {
    const { counters, calls } = await setup({ partitions: 1 })
    await counters.increment(1)
    calls.length = 0

    await counters.increment(2)
    await counters.getMany([3, 4])

    expect(calls).not.toContain('counters/agree')
  })

  test('is the same for all processes that show counts of SQL', async () => {
    const { votes, another, insert } = await shown({ partitions: 4 })
    const ids = idsBetween(4, 8)
    for (const id of ids) insert(id)
    await votes.getMany(ids)
    const other = another({ partitions: 8 })

    await expect(other.getMany(ids)).rejects.toThrow(REFUSAL)
    await expect(other.optimisticAdd(ids[0] as number)).rejects.toThrow(REFUSAL)
    await expect(other.flush()).rejects.toThrow(REFUSAL)
    await expect(other.inspect()).rejects.toThrow(REFUSAL)
    await expect(other.clear()).rejects.toThrow(REFUSAL)

    expect(await votes.clear()).toBe(true)
    expect(await other.getMany(ids)).toEqual(ids.map(() => 1))
    await expect(votes.getMany(ids)).rejects.toThrow(/^partitions must be 8/)
  })
})
