import type { ClaimedJob } from 'perilune'
import { expect, test } from 'vitest'
import { setup } from '../../../test/queue-fixture.ts'

test('a claim rejects an ack of a job of another queue, and the job stays claimed', async () => {
  const { queue, another, redis, name } = await setup()
  const other = await another()
  const parts = redis.queue<{ mail: { to: string } }>(`${name} parts`, { partitions: 2 })
  const take = async (from: Pick<typeof queue, 'enqueue' | 'claim'>) => {
    await from.enqueue('mail', { to: 'customer' })
    return (await from.claim())[0] as ClaimedJob
  }
  const cases = [
    [await take(other), queue],
    [await take(queue), parts],
    [await take(parts as never), queue],
  ] as const
  for (const [job, at] of cases) {
    await expect(at.claim({ acks: [job] })).rejects.toMatchObject({ argument: 'acks' })
    expect([job.isClaimed, job.outcome]).toEqual([true, null])
    await job.ack()
  }
})
