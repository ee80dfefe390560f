import { InvalidArgumentError } from 'perilune'
import { describe, expect, test } from 'vitest'
import { groupsFor, mails, setup } from '../../../test/partitioned-queue-fixture.ts'
import { until } from '../../../test/queue-fixture.ts'

const outcomes = (outcome: string, count: number): object[] =>
  Array.from({ length: count }, () => ({ outcome }))

describe('detached jobs from partitions', () => {
  test('are plain records from all partitions, which any process settles by token', async () => {
    const { queue, again } = setup()
    await queue.enqueueMany(mails(8))

    const { jobs, leaseMs, expiresAtMs } = await queue.claimDetached({ limit: 8, lease: '1m' })

    expect(jobs.map(({ id }) => id.slice(0, 1)).toSorted()).toEqual('00112233'.split(''))
    expect([leaseMs, expiresAtMs > (await queue.inspect()).nowMs]).toEqual([60_000, true])
    expect(jobs[0]).toEqual(JSON.parse(JSON.stringify(jobs[0])))
    const { byToken: settle } = again()
    const [first, second, third, ...others] = jobs as [{ id: string; token: number }, ...typeof jobs]
    const named = ({ id, token }: { id: string; token: number }) => ({ id, token })
    expect(await settle.ack([{ ...named(first), result: 7 }])).toEqual(outcomes('acked', 1))
    expect(await settle.fail([{ ...named(second as never), kind: 'Bad' }])).toEqual(outcomes('dead', 1))
    expect(await settle.release([named(third as never)])).toEqual(outcomes('released', 1))
    const extended = await settle.extend([...others, first].map(named), '5m')
    expect(extended.jobs).toEqual([...outcomes('extended', 5), { outcome: 'lost', reason: 'absent' }])
    expect(extended.expiresAtMs).toBeGreaterThan(expiresAtMs + 200_000)
    expect(await settle.retry(others.map(named))).toEqual(outcomes('retried', 5))
    expect(await queue.inspect()).toMatchObject({ acked: 1, dead: 1, ready: 1, scheduled: 5, claimed: 0 })
  })

  test('are settled by their own ids; of several with one id, the one with the token', async () => {
    const { queue } = setup()
    for (const group of groupsFor(4)) await queue.enqueue('mail', { to: group }, { id: 'same', group })
    const { jobs } = await queue.claimDetached({ limit: 4 })
    const [, , third] = jobs as [unknown, unknown, (typeof jobs)[0]]

    expect(jobs.map(({ id }) => id)).toEqual(['same', 'same', 'same', 'same'])
    expect(await queue.byToken.progress({ id: 'same', token: third.token }, 50)).toEqual({ outcome: 'noted' })
    const places = await queue.inspect()
    expect(places.claimed).toBe(4)
    expect(await queue.byToken.ack([{ id: 'same', token: third.token }])).toEqual(outcomes('acked', 1))
    const left = (await queue.jobs.list('claimed', { limit: 50 })).jobs
    expect((await queue.inspect()).acked).toBe(1)
    expect(left.some(({ token }) => token === third.token)).toBe(false)
    expect(await queue.byToken.ack([{ id: 'absent', token: 1 }])).toEqual([
      { outcome: 'lost', reason: 'absent' },
    ])
    expect(await queue.byToken.log({ id: 'absent', token: 1 }, 'x')).toEqual({
      outcome: 'lost',
      reason: 'absent',
    })
  })

  test('are all checked before anything is sent', async () => {
    const { queue, calls } = setup()
    await queue.enqueueMany(mails(2))
    const { jobs } = await queue.claimDetached({ limit: 2 })
    const [one] = jobs as [(typeof jobs)[0]]
    const before = calls.length

    const good = { id: one.id, token: one.token }
    await expect(queue.byToken.ack([good, { id: '9-17', token: 1 }])).rejects.toThrow(InvalidArgumentError)
    await expect(queue.byToken.ack([good, { id: '', token: 1 }])).rejects.toThrow(/id/)
    await expect(queue.claimDetached({ acks: [] } as never)).rejects.toThrow(/acks/)

    expect(calls.slice(before)).toEqual([])
  })

  test('a claim waits for them in all partitions, and is empty when none came in time', async () => {
    const { queue, again } = setup()
    const { jobs, expiresAtMs } = await queue.claimDetached({ wait: '20ms', lease: '1m' })
    expect([jobs, Number.isSafeInteger(expiresAtMs)]).toEqual([[], true])

    const claiming = queue.claimDetached({ wait: '30s' })
    await until(async () => (await again().inspect()).idle === 1)
    const { id } = await again().enqueue('mail', { to: 'ada' })

    expect((await claiming).jobs).toMatchObject([{ id }])
  })
})

test.each(['claim', 'claimDetached'] as const)(
  'a %s takes no more large jobs from other partitions behind those that fill an answer, and all are claimed in the end',
  async (what) => {
    const { queue } = setup({ partitions: 8 })
    const large = 'x'.repeat(1_100_000)
    for (const group of groupsFor(8)) {
      for (let at = 0; at < 3; at += 1) await queue.enqueue('mail', { to: large }, { group })
    }
    const counts: number[] = []
    const take = async (): Promise<number> => {
      const jobs =
        what === 'claim'
          ? await queue.claim({ limit: 200 })
          : (await queue.claimDetached({ limit: 200 })).jobs
      return jobs.length
    }
    for (let count = await take(); count > 0; count = await take()) counts.push(count)

    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(24)
    // 4 MiB are four of them: behind three of a partition there may come three of another one.
    expect(Math.max(...counts)).toBeLessThanOrEqual(6)
  },
)
