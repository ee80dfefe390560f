import { expect, test } from 'vitest'
import { setup } from '../../../test/queue-fixture.ts'

const to = 'customer'

test.each(['ack', 'retry', 'fail', 'release', 'advance'] as const)(
  'a job that was cancelled at work is removed when its notified holder ends it by %s',
  async (how) => {
    const { queue } = await setup()
    const { id } = await queue.enqueue('mail', { to }, { unique: 'k' })
    const [job] = await queue.claim({ lease: '10s' })
    await queue.jobs.cancel([id])
    await expect(job?.extend('10s')).rejects.toThrow(/cancelled/)
    expect((await queue.jobs.get(id))?.state).toBe('stopping')

    const next = { name: 'mail', payload: { to } }
    await expect(how === 'advance' ? job?.ackAndEnqueue(next) : job?.[how]()).rejects.toThrow(/cancelled/)
    expect(await queue.jobs.get(id)).toBe(null)
    expect(await queue.enqueue('mail', { to }, { unique: 'k' })).toMatchObject({ duplicate: false })
  },
)

test('a cancelled job is notified when it is extended, and its outcome has no effect', async () => {
  const { queue, clock } = await setup()
  const { id } = await queue.enqueue('mail', { to })
  const [job] = await queue.claim({ lease: '10s' })

  expect(await queue.jobs.cancel([id, 'unknown'])).toEqual(['stopping', 'absent'])

  await expect(job?.extend('10s')).rejects.toThrow(/cancelled/)
  expect(job?.signal.aborted).toBe(true)
  await clock.advance(10_001)
  expect(await queue.claim()).toEqual([])
  expect(await queue.jobs.get(id)).toBe(null)
})
