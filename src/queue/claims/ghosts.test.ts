import { describe, expect, test } from 'vitest'
import { type Payloads, type Setup, setup } from '../../../test/queue-fixture.ts'

const to = 'customer'

async function listed({ client, name }: Setup): Promise<number> {
  return client.llen(`queue-test:{queue:${name}}:ready`)
}

/** The ids of so many jobs, in the order in which they were enqueued. */
async function fill({ queue }: Setup, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let left = count; left > 0; left -= 1000) {
    const jobs = Array.from({ length: Math.min(left, 1000) }, () => ({
      name: 'mail' as const,
      payload: { to },
    }))
    ids.push(...(await queue.enqueueMany(jobs)).map(({ id }) => id))
  }
  return ids
}

describe('the list of ready jobs', () => {
  test.each([
    ['the oldest first', (ids: string[]) => ids],
    ['the newest first', (ids: string[]) => ids.toReversed()],
    // Neither at one end nor the other.
    [
      'those in the middle first',
      (ids: string[]) => ids.toSorted((one, other) => Number(isOdd(one)) - Number(isOdd(other))),
    ],
  ])('keeps nothing of jobs that were cancelled, %s', async (_, inOrder) => {
    const place = await setup()
    const ids = await fill(place, 2000)
    const cancelled = inOrder(ids)
    for (let at = 0; at < ids.length; at += 50) await place.queue.jobs.cancel(cancelled.slice(at, at + 50))

    expect(await listed(place)).toBe(0)
    expect(await place.queue.inspect()).toMatchObject({ ready: 0, cancelled: 2000 })
  })

  test('keeps few ghosts of jobs that were cancelled between others, without any claims', async () => {
    const place = await setup()
    const { queue } = place
    const [first] = await fill(place, 1)
    for (let round = 0; round < 50; round += 1) {
      const ids = await fill(place, 100)
      await queue.jobs.cancel(ids.slice(0, 99))
    }

    expect(await listed(place)).toBeLessThan(1600)
    expect((await queue.inspect()).ready).toBe(51)
    expect((await queue.claim())[0]?.id).toBe(first)
  })

  test('has one place for a job whose priority changes repeatedly, and gives it out once', async () => {
    const place = await setup()
    const { queue } = place
    const [before, id = '', behind] = await fill(place, 3)
    for (let round = 0; round < 100; round += 1) {
      await queue.jobs.reprioritize([id], 5)
      await queue.jobs.reprioritize([id], 0)
    }

    expect(await listed(place)).toBeLessThan(6)
    const claimed = await queue.claim({ limit: 10 })
    expect(claimed.map((job) => job.id)).toEqual([before, id, behind])
  })

  test('has few places for a job that is replaced repeatedly', async () => {
    const place = await setup()
    const { queue } = place
    const unique = { key: 'k', replace: true } as const
    for (let round = 0; round < 100; round += 1) {
      await queue.enqueue('mail', { to }, { unique, priority: round % 2 })
    }

    expect(await listed(place)).toBeLessThan(4)
    expect((await queue.inspect()).ready).toBe(1)
  })

  test('has one place for each of many jobs that are replaced in their places, in any earlier state', async () => {
    const place = await setup()
    const { queue } = place
    const jobs = Array.from({ length: 3100 }, (_, at) => ({
      name: 'mail' as const,
      payload: { to },
      unique: { key: `k${at}`, replace: true },
    }))
    const enqueued = await queue.enqueueMany(jobs.map((job) => ({ ...job, delay: '1h' as const })))
    const ids = enqueued.map(({ id }) => id)
    for (let at = 0; at < ids.length; at += 1000) await queue.jobs.requeue(ids.slice(at, at + 1000))
    for (let round = 0; round < 2; round += 1) await queue.enqueueMany(jobs)

    expect(await listed(place)).toBe(ids.length)
    expect((await queue.claim({ limit: 3 })).map(({ id }) => id)).toEqual(ids.slice(0, 3))
  })
})

test.each([1, 2])(
  'a claim that does not wait finds the job behind thousands that were cancelled, in %i partitions',
  async (partitions) => {
    const place = await setup()
    const { redis, name } = place
    const many = redis.queue<Payloads>(`${name}-many`, { partitions: 2 }) as unknown as typeof place.queue
    const queue = partitions === 1 ? place.queue : many
    const group = 'g'
    // A queue that knows groups looks at a thousand places a call.
    await queue.enqueue('mail', { to }, { group })
    for (const job of await queue.claim()) await job.ack()
    const jobs = Array.from({ length: 4000 }, () => ({ name: 'mail' as const, payload: { to } }))
    const ids = (await queue.enqueueMany(jobs)).map(({ id }) => id)
    // The oldest and the newest of each keep those between them from being swept.
    const [kept, gone] = [[...ids.slice(0, 2), ...ids.slice(-2)], ids.slice(2, -2)]
    for (let at = 0; at < gone.length; at += 1000) await queue.jobs.cancel(gone.slice(at, at + 1000))

    const found: string[] = []
    for (let at = 0; at < kept.length; at += 1) found.push(...(await queue.claim()).map(({ id }) => id))
    expect(found.toSorted()).toEqual(kept.toSorted())
  },
)

function isOdd(id: string): boolean {
  return Number(id) % 2 === 1
}
