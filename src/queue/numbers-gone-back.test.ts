import { expect, test } from 'vitest'
import { setup, until } from '../../test/queue-fixture.ts'

test('what follows a job in another queue is there, also where its queue was cleared behind a step back of the clock', async () => {
  const { queue, another, clock } = await setup()
  const other = await another()
  const step = async (to: string): Promise<void> => {
    await queue.enqueue('mail', { to })
    await (await queue.claim())[0]?.advance({ queue: other.name, name: 'mail', payload: { to } })
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
