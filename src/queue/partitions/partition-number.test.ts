// The partition count of a queue: every client gives it, and a different count is rejected.

import { InvalidArgumentError, PartitionedQueue } from 'perilune'

import { describe, expect, onTestFinished, test } from 'vitest'
import { groupsFor, setup } from '../../../test/partitioned-queue-fixture.ts'

describe('the number of partitions', () => {
  test('is the same for all clients until the queue is cleared', async () => {
    const { queue, again } = setup({ partitions: 4 })
    const other = again(8)
    expect(await other.jobs.get('mine')).toBeNull()
    const [, , , last] = groupsFor(4)
    await queue.enqueue('mail', { to: 'ada' }, { group: last as string })

    await expect(other.enqueue('mail', { to: 'bob' })).rejects.toThrow('partitions must be 4')
    await expect(other.jobs.get('mine')).rejects.toThrow(InvalidArgumentError)
    await expect(other.claim()).rejects.toThrow(InvalidArgumentError)
    await expect(other.clear()).rejects.toThrow(InvalidArgumentError)
    await expect(other.inspect()).rejects.toThrow(InvalidArgumentError)

    expect([await queue.clear(), await queue.clear()]).toEqual([true, false])
    await other.enqueue('mail', { to: 'bob' })
    await expect(queue.enqueue('mail', { to: 'ada' })).rejects.toThrow(InvalidArgumentError)
  })

  test.each([
    [8, 4],
    [4, 8],
  ])(
    'is rejected for a client that does not know of a clear, after a change from %i to %i',
    async (old, fresh) => {
      const { queue: stale, again } = setup({ partitions: old })
      const groups = groupsFor(old)
      for (const group of groups) await stale.enqueue('mail', { to: 'before' }, { group })
      await again(old).clear()
      const renewed = again(fresh)
      await renewed.enqueue('mail', { to: 'again' })
      const refusal = `partitions must be ${fresh}, as stored, until it is cleared`

      for (const group of groups) {
        await expect(stale.enqueue('mail', { to: 'lost?' }, { group })).rejects.toThrow(refusal)
        await expect(stale.settings.pauseGroup(group)).rejects.toThrow(refusal)
      }
      const many = groups.map((group) => ({ name: 'mail' as const, payload: { to: 'lost?' }, group }))
      await expect(stale.enqueueMany(many)).rejects.toThrow(refusal)
      const daily = { name: 'mail' as const, payload: { to: 'lost?' }, every: '1h' as const }
      await expect(stale.recurring.set('daily', daily)).rejects.toThrow(refusal)
      await expect(stale.settings.pause()).rejects.toThrow(refusal)
      await expect(stale.claim()).rejects.toThrow(refusal)
      await expect(stale.jobs.list('ready')).rejects.toThrow(refusal)
      const claimed = await renewed.claim({ limit: 100 })
      expect(claimed.map(({ payload }) => payload)).toEqual([{ to: 'again' }])
      expect(await renewed.inspect()).toMatchObject({ claimed: 1, ready: 0, groups: 0, paused: false })
    },
  )

  test('is accepted from a client that does not know of a clear if it is the same again', async () => {
    const { queue, again } = setup({ partitions: 4 })
    for (const group of groupsFor(4)) await queue.enqueue('mail', { to: 'before' }, { group })
    await again(4).clear()

    for (const group of groupsFor(4)) await queue.enqueue('mail', { to: 'late' }, { group })

    expect(await again(4).claim({ limit: 100 })).toHaveLength(4)
  })

  test('is rejected for a handle without partitions, and for one with partitions on a queue without', async () => {
    const { redis, queue, name } = setup({ partitions: 4 })
    await queue.enqueue('mail', { to: 'ada' })
    const plain = redis.queue(name)
    const refused = [
      plain.enqueue('mail', 1),
      plain.enqueue('mail', 1, { priority: 1 }),
      plain.claim(),
      plain.inspect(),
      plain.jobs.get('17'),
      plain.jobs.list('ready'),
      plain.settings.pause(),
      plain.recurring.list(),
      plain.clear(),
    ]
    for (const each of await Promise.allSettled(refused)) {
      expect(each).toMatchObject({
        reason: { argument: 'partitions', message: expect.stringContaining('must be 4') },
      })
    }
    expect(await queue.inspect()).toMatchObject({ ready: 1, paused: false })

    const [alone, spread] = [redis.queue(`${name} alone`), redis.queue(`${name} alone`, { partitions: 4 })]
    await alone.enqueue('mail', 1)
    await expect(spread.enqueue('mail', 2)).rejects.toThrow('partitions must be left out')
    await expect(spread.claim()).rejects.toThrow('partitions must be left out')
    await expect(spread.clear()).rejects.toThrow('partitions must be left out')
    expect(await alone.claim({ limit: 10 })).toHaveLength(1)
  })

  test('is rejected also in the same tick as the right one', async () => {
    const { queue, redis, name } = setup({ partitions: 4 })
    for (const group of groupsFor(4)) await queue.enqueue('mail', { to: 'there' }, { group })
    const other = redis.queue<{ mail: { to: string } }>(name, { partitions: 8 })

    const [right, wrong] = await Promise.allSettled([
      queue.enqueue('mail', { to: 'ada' }, { group: groupsFor(4)[1] as string }),
      other.enqueue('mail', { to: 'bob' }, { group: groupsFor(8)[1] as string }),
    ])

    expect([right.status, wrong.status]).toEqual(['fulfilled', 'rejected'])
  })

  test('is checked now and then by a worker without jobs', async () => {
    const { queue, again } = setup({ partitions: 4 })
    await queue.enqueue('mail', { to: 'ada' }, { group: groupsFor(4)[3] as string })
    const errors: unknown[] = []
    const worker = again(2).work(() => undefined, { onError: (error) => errors.push(error) })
    onTestFinished(() => worker.close())

    await expect.poll(() => errors.map(String).join()).toContain('partitions must be 4')
  })

  test('is from 1 to 64', () => {
    const { redis } = setup()
    expect(redis.queue('x', { partitions: 1 })).toBeInstanceOf(PartitionedQueue)
    for (const partitions of [0, 65, 1.5]) {
      expect(() => redis.queue('x', { partitions })).toThrow(/partitions/)
    }
  })
})
