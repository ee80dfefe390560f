import { describe, expect, test } from 'vitest'
import { setup } from '../../../test/queue-fixture.ts'

const to = 'customer'

async function whatHappened(
  queue: Awaited<ReturnType<typeof setup>>['queue'],
  id: string,
): Promise<string[]> {
  const history = await queue.jobs.history(id)
  return (history?.entries ?? []).map(({ what }) => what)
}

describe('the history of a job', () => {
  test('lists every attempt, when it began and how it ended, until the job is kept', async () => {
    const { queue, clock } = await setup()
    await queue.settings.set({ retention: { count: 5 } })
    const { id } = await queue.enqueue('mail', { to }, { id: 'mail', backoff: 'none', maxAttempts: 9 })
    const claim = async () => {
      await clock.advance(1000)
      const [job] = await queue.claim({ lease: '5s' })
      await clock.advance(1000)
      return job
    }
    await (await claim())?.retry({ kind: 'Throttled' })
    await (await claim())?.release()
    await claim()
    await clock.advance(5000)
    await (await claim())?.ack('sent')

    const history = await queue.jobs.history(id)
    const began = history?.entries[0]?.atMs ?? 0
    expect(history?.omitted).toBe(0)
    expect(
      history?.entries.map(({ what, atMs, attempt, kind }) => [what, atMs - began, attempt, kind]),
    ).toEqual([
      ['enqueued', 0, null, ''],
      ['claimed', 1000, 1, ''],
      ['retried', 2000, 1, 'Throttled'],
      ['claimed', 3000, 2, ''],
      ['released', 4000, 2, ''],
      ['claimed', 5000, 2, ''],
      ['reclaimed', 12_000, 2, ''],
      ['claimed', 12_000, 3, ''],
      ['acked', 13_000, 3, ''],
    ])
  })

  test('lists failures, requeues and cancellations, and is removed with the job', async () => {
    const { queue } = await setup()
    const { id } = await queue.enqueue('mail', { to })
    await (await queue.claim())[0]?.fail({ kind: 'BadAddress' })
    await queue.jobs.requeue([id])
    const [job] = await queue.claim()
    await queue.jobs.cancel([id])

    expect(await whatHappened(queue, id)).toEqual([
      'enqueued',
      'claimed',
      'dead',
      'requeued',
      'claimed',
      'stopping',
    ])
    await job?.ack().catch(() => undefined)
    expect(await queue.jobs.history(id)).toBe(null)
  })

  test('has at most a hundred entries: the first and the newest 99', async () => {
    const { queue } = await setup()
    const { id } = await queue.enqueue('mail', { to })
    await (await queue.claim())[0]?.retry({ delay: '0ms', kind: 'first' })
    for (let time = 0; time < 109; time += 1) await (await queue.claim())[0]?.release()

    const history = await queue.jobs.history(id)
    expect(history?.omitted).toBe(10)
    expect(history?.entries.filter(({ what }) => what === 'released')).toHaveLength(99)
    expect(history?.entries.slice(0, 3).map(({ what, kind }) => [what, kind])).toEqual([
      ['enqueued', ''],
      ['claimed', ''],
      ['retried', 'first'],
    ])
    expect(history?.entries.at(-1)).toMatchObject({ what: 'released', attempt: 2 })
  })

  test('costs nothing while a job is only enqueued, claimed and acked', async () => {
    const { queue, client, name } = await setup()
    const { id } = await queue.enqueue('mail', { to })
    await queue.claim()

    expect(await whatHappened(queue, id)).toEqual(['enqueued', 'claimed'])
    const fields = await client.hkeys(`queue-test:{queue:${name}}:jobs`)
    expect(fields.toSorted()).toEqual([id, `r${id}`, '~'])
  })
})
