import { Redis } from 'ioredis'
import { type PartitionedQueue, perilune, type RecurringJob } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { groupsFor, setup } from '../../../test/partitioned-queue-fixture.ts'
import { type Payloads, until } from '../../../test/queue-fixture.ts'
import { partitionOf } from '../../runtime/partitions/partition-hash.ts'
import type { ClaimedJob } from '../claims/claimed-job.ts'
import type { RecurringPage } from './recurring-jobs.ts'

const mail = { name: 'mail', payload: { to: 'ada' } } as const

test('a recurring job is stored in one partition, and spawns there', async () => {
  const { queue, again } = setup()
  const ids = Array.from({ length: 8 }, (_, at) => `every ${at}`)
  for (const handle of [queue, again()]) {
    for (const id of ids)
      expect((await handle.recurring.set(id, { ...mail, every: '1s' })).nextAtMs).not.toBeNull()
  }
  const spawned: ClaimedJob[] = []
  await using _worker = queue.work((job: ClaimedJob) => void spawned.push(job))

  await until(() => new Set(spawned.map(({ id }) => id.split('@')[0])).size === 8)

  const homes = new Set(spawned.map(({ id, partition }) => `${id.split('@')[0]} ${partition}`))
  expect([homes.size, new Set(spawned.map(({ id }) => id)).size]).toEqual([8, spawned.length])
  expect(spawned.map(({ partition }) => partition)).toEqual(
    spawned.map(({ id }) => partitionOf(id.split('@')[0], 4)),
  )
})

test('recurring jobs are found, listed and removed in any partition', async () => {
  const { queue } = setup()
  const ids = Array.from({ length: 6 }, (_, at) => `daily ${at}`)
  for (const id of ids)
    await queue.recurring.set(id, { ...mail, cron: '0 9 * * *', timeZone: 'Europe/Berlin' })

  const listed: string[] = []
  let after: string | undefined
  do {
    const page = await queue.recurring.list({ limit: 2, ...(after === undefined ? {} : { after }) })
    listed.push(...page.recurring.map(({ id }) => id))
    after = page.next ?? undefined
  } while (after !== undefined)
  expect(listed.toSorted()).toEqual(ids)
  expect(await queue.recurring.get('daily 3')).toMatchObject({ id: 'daily 3', rule: { cron: '0 9 * * *' } })

  expect([await queue.recurring.remove('daily 3'), await queue.recurring.remove('daily 3')]).toEqual([
    true,
    false,
  ])
  expect(await queue.recurring.get('daily 3')).toBeNull()
  await expect(queue.recurring.list({ after: '17' })).rejects.toThrow(/after/)
})

test('a recurring job is stored in the partition of its group, and never in two', async () => {
  const { queue } = setup()
  for (const group of groupsFor(4)) {
    await queue.recurring.set('tick', { ...mail, group, every: '1h' })
    expect((await all(queue)).map((each) => each.group)).toEqual([group])
  }
  await expect(queue.recurring.set('tick', { ...mail, every: '1ms' })).rejects.toThrow(/every/)
  expect(await queue.recurring.get('tick')).toMatchObject({ group: groupsFor(4)[3] })
})

/** Lists all partitions: a page has the jobs of one. */
async function all(queue: PartitionedQueue<Payloads>): Promise<RecurringJob[]> {
  const jobs: RecurringJob[] = []
  let after: string | null = null
  do {
    const page: RecurringPage = await queue.recurring.list(after === null ? {} : { after })
    jobs.push(...page.recurring)
    after = page.next
  } while (after !== null)
  return jobs
}

/** The queue in another process; calls of the operation named by `hold` are sent when `release` is called. */
function holding(name: string, hold: string): { queue: PartitionedQueue<Payloads>; release(): void } {
  let release: () => void = () => undefined
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const client = new Redis(inject('redisPort'))
  const driver = ioredis(client)
  const run = driver.run.bind(driver)
  driver.run = async (call) => {
    if (call.script.name === hold) await released
    return run(call)
  }
  const redis = perilune(driver, { namespace: 'partitioned-queue-test' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return { queue: redis.queue<Payloads>(name, { partitions: 4 }), release }
}

test.each([
  [0, 3],
  [3, 0],
])('a recurring job that two move at once, to %i and to %i, lives in one partition', async (slow, quick) => {
  const { queue, name } = setup()
  const groups = groupsFor(4)
  await queue.recurring.set('tick', { ...mail, group: groups[1] as string, every: '1h' })
  const { queue: other, release } = holding(name, 'queue/recur')

  const moving = other.recurring.set('tick', { ...mail, group: groups[slow] as string, every: '1h' })
  // It has located the job, and has not set it yet.
  await until(async () => (await all(queue)).length === 0)
  await queue.recurring.set('tick', { ...mail, group: groups[quick] as string, every: '1h' })
  release()
  await moving

  expect(await all(queue)).toHaveLength(1)
  await queue.recurring.set('tick', { ...mail, group: groups[slow] as string, every: '1h' })
  expect(await all(queue)).toMatchObject([{ group: groups[slow] }])
})

test('recurring jobs that several processes move concurrently end up in one partition', async () => {
  const { queue, again } = setup()
  const groups = groupsFor(4)
  const handles = [queue, again(), again()]
  for (let round = 0; round < 30; round++) {
    await Promise.all(
      handles.map((each, at) =>
        each.recurring.set('tick', { ...mail, group: groups[(at + round) % 4] as string, every: '1h' }),
      ),
    )
    expect(await all(queue)).toHaveLength(1)
  }
})
