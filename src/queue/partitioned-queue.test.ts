import { batch, InvalidArgumentError } from 'perilune'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { groupsFor, mails, setup } from '../../test/partitioned-queue-fixture.ts'
import { until, untilQuiet } from '../../test/queue-fixture.ts'
import type { ClaimedJob } from './claims/claimed-job.ts'

const upwards = (one: number, other: number): number => one - other
const partitionOfId = (id: string): string => id.replace(/-.*/, '')

describe('enqueueing in partitions', () => {
  test('assigns ids that name the partition, and uses the partitions in turn', async () => {
    const { queue } = setup()

    const enqueued = await queue.enqueueMany(mails(8))

    expect(enqueued.every(({ id }) => /^[0-3]-\d{16}$/.test(id))).toBe(true)
    expect(enqueued.map(({ id }) => partitionOfId(id)).toSorted()).toEqual('00112233'.split(''))
    const { partitions, ready } = await queue.inspect()
    expect([ready, partitions.map((each) => each.ready)]).toEqual([8, [2, 2, 2, 2]])
  })

  test('keeps the jobs of a group in one partition, in their order', async () => {
    const { queue } = setup()
    const [, , group] = groupsFor(4)

    const many = await queue.enqueueMany(mails(3, { group }))
    const one = await queue.enqueue('mail', { to: '3' }, { group: group as string })

    expect([...many, one].map((each) => partitionOfId(each.id))).toEqual(['2', '2', '2', '2'])
    for (const [at, id] of ['a', 'b', 'c', 'd'].entries()) {
      await queue.enqueue('mail', { to: `${at + 4}` }, { id, unique: id, group: group as string })
    }
    const claimed = await queue.claim({ limit: 8 })
    expect(new Set(claimed.map(({ partition }) => partition))).toEqual(new Set([2]))
    expect(claimed.map(({ payload }) => (payload as { to: string }).to)).toEqual('01234567'.split(''))
  })

  test('detects duplicates by their own ids and unique keys, from every handle', async () => {
    const { queue, again } = setup()
    const first = await queue.enqueue('mail', { to: 'ada' }, { id: 'welcome:ada' })
    const unique = await queue.enqueue('mail', { to: 'bob' }, { unique: 'bob' })

    expect(await again().enqueue('mail', { to: 'ada' }, { id: 'welcome:ada' })).toEqual({
      id: first.id,
      duplicate: true,
    })
    expect(await again().enqueue('mail', { to: 'bob' }, { unique: 'bob' })).toEqual({
      id: unique.id,
      duplicate: true,
    })
    expect(first.id).toBe('welcome:ada')
    const keyed = await queue.enqueue('mail', { to: 'eve' }, { idempotencyKey: 'order 7' })
    expect(await again().enqueue('mail', { to: 'eve' }, { idempotencyKey: 'order 7' })).toEqual({
      id: keyed.id,
      duplicate: true,
    })
  })

  test('rejects an own id that looks like an assigned one', async () => {
    const { queue } = setup()

    await expect(queue.enqueue('mail', { to: 'x' }, { id: '3-17' })).rejects.toThrow(InvalidArgumentError)

    await queue.enqueue('mail', { to: 'x' }, { id: '3-a' })
    expect(await queue.jobs.get('3-a')).toMatchObject({ id: '3-a' })
  })

  test('checks payloads, all before the first is sent', async () => {
    const { redis, name } = setup()
    const queue = redis.queue(name, { partitions: 4, schemas: { mail: z.object({ to: z.string() }) } })
    expectTypeOf(queue.enqueue<'mail'>)
      .parameter(1)
      .toEqualTypeOf<{ to: string }>()

    const wrong = [...mails(5), { name: 'mail' as const, payload: { to: 7 as never } }]
    await expect(queue.enqueueMany(wrong)).rejects.toThrow(/^jobs\[5\]\.payload\.to does not fit/)

    expect((await queue.inspect()).enqueued).toBe(0)
  })
})

describe('a worker on partitions', () => {
  test('does every job of all partitions once, within its concurrency', async () => {
    const { queue } = setup()
    const done: string[] = []
    let [atWork, most] = [0, 0]
    await queue.enqueueMany(mails(300))
    const mail = async ({ payload }: ClaimedJob<{ to: string }>): Promise<void> => {
      most = Math.max(most, ++atWork)
      await new Promise((resolve) => setTimeout(resolve, 1))
      atWork -= 1
      done.push(payload.to)
    }
    await using worker = queue.work({ mail }, { concurrency: 7 })

    await until(async () => (await queue.inspect()).acked === 300)

    expect([new Set(done).size, done.length, most]).toEqual([300, 300, 7])
    expect(worker.atWork).toBe(0)
  })

  test('claims no more than it has room for', async () => {
    const { queue } = setup()
    await queue.enqueueMany(mails(40))
    let finish: () => void = () => undefined
    const finished = new Promise<void>((resolve) => (finish = resolve))
    await using worker = queue.work(() => finished, { concurrency: 7, prefetch: 4 })

    await until(async () => (await queue.inspect()).claimed >= 11)

    expect(worker.atWork).toBe(7)
    expect((await queue.inspect()).partitions.map(({ claimed }) => claimed).toSorted(upwards)).toEqual([
      2, 3, 3, 3,
    ])
    finish()
  })

  test('does not let a partition with many jobs delay those with few', async () => {
    const { queue } = setup()
    const [long, short] = groupsFor(4)
    const order: string[] = []
    await queue.enqueueMany(mails(60, { group: long }))
    await queue.enqueueMany(mails(5, { group: short }))
    await using _worker = queue.work(
      async ({ group }: ClaimedJob) => {
        await new Promise((resolve) => setTimeout(resolve, 2))
        order.push(group)
      },
      { concurrency: 2 },
    )

    await until(() => order.length === 65)

    // Half of each while both have some, plus what was under way.
    expect(order.lastIndexOf(short as string)).toBeLessThan(20)
  })

  test('serves a partition that gets jobs while another one keeps the worker busy', async () => {
    const { queue, calls } = setup()
    const [busy, late] = groupsFor(4)
    const order: string[] = []
    await using _worker = queue.work(
      async ({ group }: ClaimedJob) => {
        if (order.push(group) === 10) await queue.enqueueMany(mails(5, { group: late }))
        await new Promise((resolve) => setTimeout(resolve, 5))
      },
      { concurrency: 1 },
    )

    // From then on it receives wake-ups of each partition.
    await untilQuiet(calls)
    await queue.enqueueMany(mails(40, { group: busy }))

    await until(() => order.length === 45)

    expect(order.lastIndexOf(late as string)).toBeLessThan(30)
  })

  test('does not poll while there are no jobs, and is woken up by each partition', async () => {
    const { queue, calls, again } = setup()
    const other = again()
    const done: string[] = []
    await other.inspect()
    await using _worker = queue.work((job: ClaimedJob) => void done.push(partitionOfId(job.id)))
    await untilQuiet(calls)
    await until(async () => (await other.inspect()).partitions.every(({ idle }) => idle === 1))
    const before = calls.length
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(calls.slice(before)).toEqual([])

    for (const group of groupsFor(4)) {
      const count = done.length
      await other.enqueue('mail', { to: 'ada' }, { group })
      await until(() => done.length > count)
    }

    expect(done).toEqual(['0', '1', '2', '3'])
  })

  test('passes on a wake-up for which it has no room', async () => {
    const { queue, again, calls } = setup()
    const [first, second] = groupsFor(4)
    const begun: string[] = []
    let finish: () => void = () => undefined
    const finished = new Promise<void>((resolve) => (finish = resolve))
    const work = (who: string, from = queue) =>
      from.work(
        async ({ group }: ClaimedJob) => {
          begun.push(`${who} ${group}`)
          await finished
        },
        { concurrency: 1 },
      )
    const waiting = async (count: number): Promise<boolean> =>
      (await queue.inspect()).partitions.every(({ idle }) => idle === count)
    await using _full = work('one')
    await untilQuiet(calls)
    await until(() => waiting(1))
    await queue.enqueue('mail', { to: 'ada' }, { group: first as string })
    await until(() => begun.length === 1)
    // It still waits in the other partitions before the next job.
    await using _free = work('another', again())
    await until(async () => (await queue.inspect()).partitions[1]?.idle === 2)
    // By then each is subscribed, and polls only every ten seconds.
    await new Promise((resolve) => setTimeout(resolve, 700))

    await queue.enqueue('mail', { to: 'bob' }, { group: second as string })
    await until(() => begun.length === 2)

    expect(begun).toEqual([`one ${first}`, `another ${second}`])
    finish()
  })

  test('extends its jobs in every partition, and releases those that take too long', async () => {
    const { queue } = setup()
    const begun: string[] = []
    for (const group of groupsFor(4)) await queue.enqueue('mail', { to: 'ada' }, { group })
    const worker = queue.work(
      async ({ id }: ClaimedJob) => {
        begun.push(partitionOfId(id))
        await new Promise((resolve) => setTimeout(resolve, 60_000).unref())
      },
      { lease: '3s' },
    )
    await until(() => begun.length === 4)
    await new Promise((resolve) => setTimeout(resolve, 3200))
    expect(await queue.inspect()).toMatchObject({ claimed: 4, reclaimed: 0, overdue: 0 })

    await worker.close({ within: '0ms' })

    expect(begun.toSorted()).toEqual(['0', '1', '2', '3'])
    expect(await queue.inspect()).toMatchObject({ claimed: 0, ready: 4, idle: 0 })
    expect((await queue.claim({ limit: 4 })).map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1])
  })

  test('whose signal aborts finishes its jobs of each partition, and begins no others', async () => {
    const { queue } = setup()
    const shutdown = new AbortController()
    for (const group of groupsFor(4)) await queue.enqueueMany(mails(2, { group }))
    let [started, finished] = [0, 0]
    const worker = queue.work(
      async () => {
        started += 1
        await new Promise((resolve) => setTimeout(resolve, 50))
        finished += 1
      },
      { concurrency: 4, signal: shutdown.signal },
    )
    await until(() => started === 4)

    shutdown.abort()
    await until(async () => (await queue.inspect()).acked === 4)
    await worker.close()

    expect([started, finished]).toEqual([4, 4])
    expect(await queue.inspect()).toMatchObject({ claimed: 0, ready: 4, idle: 0 })
  })

  test('runs delayed jobs, and batches over all partitions', async () => {
    const { queue } = setup()
    const calls: number[] = []
    const handler = batch<unknown>({ size: 8, within: '2s' }, (jobs) => void calls.push(jobs.length))
    await using _worker = queue.work({ mail: handler }, { concurrency: 20 })

    await queue.enqueueMany(mails(8, { delay: '60ms' }))
    await until(async () => (await queue.inspect()).acked === 8)

    expect(calls).toEqual([8])
  })
})

describe('claims over partitions', () => {
  test('take from all of them, and ack in the same calls', async () => {
    const { queue } = setup()
    await queue.enqueueMany(mails(12))

    const first = await queue.claim({ limit: 8 })
    const second = await queue.claim({ limit: 8, acks: first })

    expect([first.length, second.length]).toEqual([8, 4])
    expect(first.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 8 }, () => 'acked'))
    const partitions = [...first, ...second].map(({ partition }) => partition)
    expect(partitions.map(Number).toSorted(upwards)).toEqual([0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3])
    await Promise.all(second.map((job) => job.ack()))
    expect(await queue.inspect()).toMatchObject({ acked: 12, claimed: 0 })
  })

  test('wait for any of them, and leave no waiter registered', async () => {
    const { queue, again } = setup()
    const other = again()
    for (const group of groupsFor(4)) {
      const claiming = queue.claim({ wait: '20s' })
      await until(async () => (await other.inspect()).partitions.every(({ idle }) => idle === 1))
      await other.enqueue('mail', { to: 'ada' }, { group })
      const [job] = await claiming
      expect(job?.group).toBe(group)
    }
    expect(await queue.inspect()).toMatchObject({ idle: 0, claimed: 4 })
    expect(await queue.claim({ wait: '10ms' })).toEqual([])
    const aborter = new AbortController()
    const claiming = queue.claim({ wait: '20s', signal: aborter.signal })
    aborter.abort(new Error('enough'))
    await expect(claiming).rejects.toThrow('enough')
  })
})

describe('the inspection of partitions', () => {
  test('reports since when the oldest job of all and of each partition waits, or null', async () => {
    const { queue } = setup()
    expect((await queue.inspect()).oldestAtMs).toBe(null)
    const [first = '', second = ''] = groupsFor(4)
    const older = await queue.enqueue('mail', { to: 'ada' }, { id: first })
    await queue.enqueue('mail', { to: 'bob' }, { id: second })

    const { oldestAtMs, partitions } = await queue.inspect()

    expect(oldestAtMs).toBe((await queue.jobs.get(older.id))?.enqueuedAtMs)
    expect(partitions.map((each) => each.oldestAtMs === null)).toEqual(
      partitions.map(({ ready }) => ready === 0),
    )
  })
})
