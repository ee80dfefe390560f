import type { ClaimedJob } from 'perilune'
import { expect, test } from 'vitest'
import { groupsFor, mails, setup } from '../partitioned-queue-fixture.ts'
import { until, untilQuiet } from '../queue-fixture.ts'

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

test('on a cluster every partition wakes a worker, and also a claim', async () => {
  const { queue, calls, again } = setup({ partitions: 8, cluster: true })
  const other = again()
  const done: string[] = []
  const allWait = async (): Promise<boolean> =>
    (await other.inspect()).partitions.every(({ idle }) => idle === 1)
  const worker = queue.work(({ group }: ClaimedJob) => void done.push(group))
  await untilQuiet(calls)
  await until(allWait)
  const before = calls.length
  await new Promise((resolve) => setTimeout(resolve, 3000))
  // Each partition is checked again every ten seconds, and other calls add one or two; a polling worker would have
  // asked each six times.
  expect(calls.length - before).toBeLessThanOrEqual(16)

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

test('on a cluster jobs wait for those of other nodes, are claimed detached and settled, and their events are received', async () => {
  const { queue, again } = setup({ partitions: 8, cluster: true })
  const groups = groupsFor(8)
  const aborter = new AbortController()
  const heard = new Set<string>()
  const listening = (async () => {
    for await (const event of queue.events({ signal: aborter.signal })) if ('id' in event) heard.add(event.id)
  })()
  const dependencies: string[] = []
  for (const group of groups)
    dependencies.push((await queue.enqueue('mail', { to: 'dependency' }, { group })).id)
  const dependent = await queue.enqueue(
    'mail',
    { to: 'dependent' },
    { dependsOn: dependencies, group: groups[5] as string },
  )
  await queue.recurring.set('tick', { name: 'mail', payload: { to: 'tick' }, every: '365d' })
  expect((await queue.jobs.get(dependent.id))?.state).toBe('blocked')

  const other = again()
  const { jobs } = await queue.claimDetached({ limit: 20 })
  const settled = await other.byToken.ack(jobs.map(({ id, token }) => ({ id, token })))
  expect(settled).toEqual(dependencies.map(() => ({ outcome: 'acked' })))
  const [job] = await other.claim({ wait: '20s' })
  const { id = null } =
    (await job?.ackAndEnqueue({ name: 'mail', payload: { to: 'next' }, group: groups[2] as string })) ?? {}

  expect([job?.id, id]).toEqual([dependent.id, null])
  await until(async () => (await queue.inspect()).partitions[2]?.ready === 1)
  expect((await queue.stats()).total).toMatchObject({ enqueued: 10, acked: 9, run: { count: 9 } })
  expect((await other.recurring.list()).recurring).toMatchObject([{ id: 'tick' }])
  await until(async () => {
    for (const group of groups) await other.enqueue('mail', { to: 'heard' }, { group })
    return new Set([...heard].map((each) => each[0])).size === 8
  })
  aborter.abort(new Error('enough'))
  await expect(listening).rejects.toThrow('enough')
})
