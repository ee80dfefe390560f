import { InvalidArgumentError } from 'perilune'
import { describe, expect, test } from 'vitest'
import { groupsFor, mails, setup } from '../../../test/partitioned-queue-fixture.ts'

describe('jobs in partitions', () => {
  test('are found by assigned and by own ids in any partition', async () => {
    const { queue } = setup()
    const groups = groupsFor(4)
    const given = await queue.enqueueMany(mails(4))
    for (const [at, group] of groups.entries()) {
      await queue.enqueue('mail', { to: 'x' }, { id: `own ${at}`, group })
    }
    const ids = [...given.map(({ id }) => id), 'own 0', 'own 1', 'own 2', 'own 3']

    const found = await queue.jobs.getMany([...ids, 'absent', '2-17'])
    expect(found.map(({ id }) => id)).toEqual(ids)

    expect(await queue.jobs.reprioritize(['own 1', 'absent'], 5)).toEqual(['changed', 'absent'])
    const outcomes = Array.from({ length: 8 }, () => 'cancelled')
    expect(await queue.jobs.cancel([...ids, 'absent'])).toEqual([...outcomes, 'absent'])
    expect(await queue.jobs.get('own 3')).toBeNull()
    await expect(queue.jobs.get('9-17')).rejects.toThrow(InvalidArgumentError)
  })

  test('are listed and searched, one partition after the other', async () => {
    const { queue } = setup()
    const enqueued = await queue.enqueueMany(mails(10, { delay: '1h', tags: ['late'] }))
    const ids = enqueued.map(({ id }) => id).toSorted()

    for (const page of [
      (after?: string) =>
        queue.jobs.list('scheduled', { limit: 2, ...(after === undefined ? {} : { after }) }),
      (after?: string) =>
        queue.jobs.search({ tag: 'late', limit: 2, ...(after === undefined ? {} : { after }) }),
    ]) {
      const seen: string[] = []
      let after: string | undefined
      do {
        const { jobs, next } = await page(after)
        seen.push(...jobs.map(({ id }) => id))
        after = next ?? undefined
      } while (after !== undefined)
      expect([...new Set(seen)].toSorted()).toEqual(ids)
    }
    await expect(queue.jobs.list('ready', { after: '12' })).rejects.toThrow(/after/)
  })

  test('have the same kinds of failure in all partitions', async () => {
    const { queue } = setup()
    await queue.enqueueMany(mails(8))
    for (const job of await queue.claim({ limit: 8 })) await job.fail({ kind: 'Broken', message: job.id })

    const [failures, ...others] = await queue.dead.list()
    expect([failures?.kind, failures?.count, others]).toEqual(['Broken', 8, []])
    expect(failures?.sample.message).toBe(failures?.sample.id)

    const first = await queue.jobs.list('dead', { kind: 'Broken', limit: 1 })
    const rest = await queue.jobs.list('dead', { kind: 'Broken', after: first.next ?? '' })
    expect([first.jobs.length, rest.jobs.length, rest.next]).toEqual([1, 1, '1-0'])
    expect(await queue.jobs.list('dead', { kind: 'Fine' })).toEqual({ jobs: [], next: null })
    expect(await queue.jobs.requeue([failures?.sample.id ?? ''])).toEqual(['requeued'])
    expect(await queue.dead.requeue('Broken')).toBe(7)
    for (const job of await queue.claim({ limit: 8 })) await job.fail({ kind: 'Broken' })
    expect(await queue.dead.drop('Broken')).toBe(8)
  })
})

describe('settings of partitions', () => {
  test('are divided, and rejected when they cannot be', async () => {
    const { queue } = setup()

    await queue.settings.set({
      concurrency: 10,
      rate: { limit: 6, window: '1s', burst: 5 },
      retention: { count: 40, age: '1h' },
    })

    const { partitions, ...sums } = await queue.inspect()
    expect(sums).toMatchObject({ concurrency: 10, rateLimit: 6, rateWindowMs: 1000, rateBurst: 5 })
    expect(sums).toMatchObject({ retentionCount: 40, retentionMs: 3_600_000 })
    expect(partitions.map(({ concurrency }) => concurrency)).toEqual([3, 3, 2, 2])
    expect(partitions.map(({ rateLimit }) => rateLimit)).toEqual([2, 2, 1, 1])
    expect(partitions.map(({ rateBurst }) => rateBurst)).toEqual([2, 1, 1, 1])
    for (const settings of [
      { concurrency: 3 },
      { rate: { limit: 1, window: '1s' } },
      { rate: { limit: 4, window: '1s', burst: 3 } },
      { retention: { count: 1 } },
    ]) {
      await expect(queue.settings.set(settings as never)).rejects.toThrow(InvalidArgumentError)
    }

    await queue.settings.set({ concurrency: null, rate: null, retention: null })
    expect(await queue.inspect()).toMatchObject({ concurrency: 0, rateLimit: 0, retentionCount: 0 })
  })

  test('pause all partitions, and apply undivided to a group', async () => {
    const { queue } = setup()
    const [, group] = groupsFor(4)
    await queue.enqueueMany(mails(4))
    await queue.settings.pause()
    expect(await queue.claim({ limit: 4 })).toEqual([])
    expect((await queue.inspect()).paused).toBe(true)
    await queue.settings.resume()
    expect(await queue.claim({ limit: 4 })).toHaveLength(4)

    expect(await queue.settings.setGroup(group as string, { concurrency: 1 })).toMatchObject({
      concurrency: 1,
    })
    await queue.enqueueMany(mails(2, { group }))
    expect(await queue.claim({ limit: 4 })).toHaveLength(1)
    expect(await queue.settings.pauseGroup(group as string)).toMatchObject({
      paused: true,
      ready: 1,
      claimed: 1,
    })
    expect(await queue.settings.resumeGroup(group as string)).toMatchObject({ paused: false })
  })
})
