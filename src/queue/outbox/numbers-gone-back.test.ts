import { expect, test } from 'vitest'
import { setup, until } from '../../../test/queue-fixture.ts'
import type { ClaimedJob } from '../claims/claimed-job.ts'

test('the next job in another queue arrives, also when its queue was cleared after the clock stepped back', async () => {
  const { queue, another, clock } = await setup()
  const other = await another()
  const step = async (to: string): Promise<void> => {
    await queue.enqueue('mail', { to })
    await (await queue.claim())[0]?.ackAndEnqueue({ queue: other.name, name: 'mail', payload: { to } })
    await until(async () => (await queue.inspect()).outbox === 0)
  }

  await step('first')
  await queue.clear()
  await clock.advance(-3_600_000)
  await step('second')
  await step('third')

  const jobs = await other.claim({ limit: 10 })
  expect(jobs.map(({ payload }) => payload)).toEqual(['first', 'second', 'third'].map((to) => ({ to })))
})

test('any number of next jobs in other queues arrive when their queue was cleared after the clock stepped back', async () => {
  const { queue, another, clock } = await setup()
  const others = [await another(), await another()]
  const step = async (count: number): Promise<void> => {
    const all = Array.from({ length: count }, (_, at) => ({
      name: 'mail' as const,
      payload: { to: String(at) },
    }))
    await queue.enqueueMany(all)
    const jobs: ClaimedJob[] = []
    while (jobs.length < count) jobs.push(...(await queue.claim({ limit: 200 })))
    const to = (at: number) => others[at % 2]?.name as string
    await Promise.all(
      jobs.map((job, at) => job.ackAndEnqueue({ queue: to(at), name: 'mail', payload: job.payload })),
    )
    await until(async () => (await queue.inspect()).outbox === 0)
  }

  await step(2)
  await queue.clear()
  await clock.advance(-3_600_000)
  await step(500)

  expect((await Promise.all(others.map((other) => other.inspect()))).map(({ ready }) => ready)).toEqual([
    251, 251,
  ])
})
