import { expect, test } from 'vitest'
import { groupsFor, setup } from '../../test/partitioned-queue-fixture.ts'
import { until } from '../../test/queue-fixture.ts'
import { partitionOf } from '../runtime/partition-hash.ts'
import type { ClaimedJob } from './claimed-job.ts'

const mail = { name: 'mail', payload: { to: 'ada' } } as const

test('a recurring job of partitions lives in one of them, and spawns there', async () => {
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

test('recurring jobs of partitions are found, listed and removed wherever they are', async () => {
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
  expect(await queue.recurring.find('daily 3')).toMatchObject({ id: 'daily 3', rule: { cron: '0 9 * * *' } })

  expect([await queue.recurring.remove('daily 3'), await queue.recurring.remove('daily 3')]).toEqual([
    true,
    false,
  ])
  expect(await queue.recurring.find('daily 3')).toBeNull()
  await expect(queue.recurring.list({ after: '17' })).rejects.toThrow(/after/)
})

test('a recurring job of partitions lives where the group of its jobs is, and never in two', async () => {
  const { queue } = setup()
  for (const group of groupsFor(4)) {
    await queue.recurring.set('tick', { ...mail, group, every: '1h' })
    expect((await queue.recurring.list()).recurring.map((each) => each.group)).toEqual([group])
  }
  await expect(queue.recurring.set('tick', { ...mail, every: '1ms' })).rejects.toThrow(/every/)
  expect(await queue.recurring.find('tick')).toMatchObject({ group: groupsFor(4)[3] })
})
