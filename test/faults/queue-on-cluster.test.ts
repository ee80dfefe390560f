import type { ClaimedJob } from 'perilune'
import { expect, test } from 'vitest'
import { groupsFor, mails, setup } from '../partitioned-queue-fixture.ts'
import { until } from '../queue-fixture.ts'

test('a queue in partitions lies on several nodes of a cluster, and one worker does all its jobs', async () => {
  const { queue, again } = setup({ partitions: 8, cluster: true })
  const done: string[] = []
  await again().enqueueMany(mails(200))
  await using _worker = queue.work(
    ({ payload }: ClaimedJob) => void done.push((payload as { to: string }).to),
    {
      concurrency: 10,
    },
  )

  await until(async () => (await queue.inspect()).acked === 200)

  expect([new Set(done).size, done.length]).toEqual([200, 200])
})

test('on a cluster a worker is woken by every partition, and so is a claim', async () => {
  const { queue, calls, again } = setup({ partitions: 8, cluster: true })
  const other = again()
  const done: string[] = []
  const allWait = async (): Promise<boolean> =>
    (await other.inspect()).partitions.every(({ idle }) => idle === 1)
  const worker = queue.work(({ group }: ClaimedJob) => void done.push(group))
  await until(allWait)
  const before = calls.length
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(calls.slice(before)).toEqual([])

  for (const group of groupsFor(8)) {
    await other.enqueue('mail', { to: 'ada' }, { group })
    await until(() => done.includes(group))
  }
  await worker.close()
  const claiming = queue.claim({ wait: '20s' })
  await until(allWait)
  await other.enqueue('mail', { to: 'ada' })

  expect(await claiming).toHaveLength(1)
  expect(await queue.inspect()).toMatchObject({ acked: 8, claimed: 1, idle: 0 })
})
