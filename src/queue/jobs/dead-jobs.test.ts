import type { JobPage } from 'perilune'
import { expect, test } from 'vitest'
import { instance } from '../../../test/instance.ts'
import { type Payloads, setup } from '../../../test/queue-fixture.ts'

test('dead jobs of a kind are listed page by page, each once even if others come and go meanwhile', async () => {
  const { queue } = await setup()
  const jobs = Array.from({ length: 90 }, () => ({ name: 'mail' as const, payload: { to: 'customer' } }))
  await queue.enqueueMany(jobs)
  const claimed = await queue.claim({ limit: 90 })
  await Promise.all(claimed.map((job, at) => job.fail({ kind: at % 3 === 0 ? 'Odd' : `Other ${at % 3}` })))
  const odd = claimed.filter((_, at) => at % 3 === 0).map(({ id }) => id)

  const seen: string[] = []
  let after: string | null = '0'
  while (after !== null) {
    const page: JobPage = await queue.jobs.list('dead', { kind: 'Odd', limit: 7, after })
    seen.push(...page.jobs.map(({ id }) => id))
    // Otherwise the places would shift by two a page.
    await queue.jobs.requeue(page.jobs.slice(0, 2).map(({ id }) => id))
    after = page.next
  }

  expect(seen).toEqual(odd)
  expect((await queue.jobs.list('dead', { kind: 'Odd' })).jobs).toHaveLength(odd.length - 10)
  expect(await queue.jobs.list('dead', { kind: 'unknown' })).toEqual({ jobs: [], next: null })
  await expect(queue.jobs.list('done', { kind: 'Odd' })).rejects.toMatchObject({ argument: 'kind' })
  await expect(queue.jobs.list('dead', { kind: '' })).rejects.toMatchObject({ argument: 'kind' })
  await expect(queue.jobs.list('dead', { kind: 'Odd', after: 'x' })).rejects.toMatchObject({
    argument: 'after',
  })
})

test('a requeued job takes its unique key again, and stays dead when another job has the key', async () => {
  const { queue } = await setup()
  const mail = async (unique: string) => (await queue.enqueue('mail', { to: 'customer' }, { unique })).id
  const first = await mail('k')
  const [job] = await queue.claim()
  await job?.fail({ kind: 'Odd' })
  const second = await mail('k')

  expect(await queue.jobs.requeue([first])).toEqual(['duplicate'])
  expect(await queue.dead.requeue('Odd')).toBe(0)
  expect((await queue.jobs.get(first))?.state).toBe('dead')
  await (await queue.claim())[0]?.ack()
  expect(await queue.jobs.get(second)).toBe(null)

  expect(await queue.jobs.requeue([first, first])).toEqual(['requeued', 'ready'])
  expect(await queue.enqueue('mail', { to: 'else' }, { unique: 'k' })).toMatchObject({
    id: first,
    duplicate: true,
  })
})

test('requeueing a kind skips dead jobs whose unique keys other jobs have, and requeues the rest', async () => {
  const { queue } = await setup()
  const jobs = Array.from({ length: 200 }, (_, at) => ({
    name: 'mail' as const,
    payload: { to: 'customer' },
    ...(at % 2 === 0 ? { unique: `k${at}` } : {}),
  }))
  await queue.enqueueMany(jobs)
  for (const job of await queue.claim({ limit: 200 })) await job.fail({ kind: 'Odd' })
  await queue.enqueueMany(jobs.filter(({ unique }) => unique !== undefined))

  expect(await queue.dead.requeue('Odd')).toBe(100)
  expect(await queue.settings.inspect()).toMatchObject({ dead: 100, ready: 200 })
  expect(await queue.dead.drop('Odd')).toBe(100)
})

test('requeueing a kind continues when jobs die again meanwhile, and counts each job once', async () => {
  const { redis, driver, name } = instance()
  const queue = redis.queue<Payloads>(name)
  await queue.enqueueMany(Array.from({ length: 120 }, () => ({ name: 'mail', payload: { to: 'customer' } })))
  const buryAll = async (): Promise<void> => {
    for (const job of await queue.claim({ limit: 200 })) await job.fail({ kind: 'Odd' })
  }
  await buryAll()
  const { run } = driver
  let calls = 0
  driver.run = async (call) => {
    const reply = await run(call)
    if (call.script.name === 'queue/requeue-dead' && (calls += 1) <= 2) await buryAll()
    return reply
  }

  expect(await queue.dead.requeue('Odd')).toBe(120)

  expect(calls).toBeGreaterThan(2)
  const { ready, dead } = await queue.inspect()
  const again = await Promise.all(
    (await queue.jobs.list('dead', { limit: 200 })).jobs.map(({ id }) => queue.jobs.history(id)),
  )
  expect(ready + dead).toBe(120)
  expect(
    again.every((history) => history?.entries.filter(({ what }) => what === 'requeued').length === 1),
  ).toBe(true)
})
