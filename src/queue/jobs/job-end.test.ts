import { InvalidArgumentError } from 'perilune'
import { describe, expect, test } from 'vitest'
import { setup, until } from '../../../test/queue-fixture.ts'

const to = 'customer'

/** Resolves once so many waiters of the job are registered. */
async function waiting(
  { client, name }: Awaited<ReturnType<typeof setup>>,
  id: string,
  count: number,
): Promise<void> {
  await until(async () => {
    const names = (await client.hget(`queue-test:{queue:${name}}:jobs`, `w${id}`)) ?? ''
    return names.split(' ').filter((each) => each !== '').length === count
  })
}

describe('waiting for a result', () => {
  test('resolves for all waiters when a worker of another process is done', async () => {
    const place = await setup({ clock: 'real' })
    const { queue } = place
    const { id } = await queue.enqueue('mail', { to })
    // The waiters of one process share a name.
    const ends = [1, 2].map(() => queue.jobs.waitForResult(id, { wait: '1h' }))
    await waiting(place, id, 1)
    await using _worker = queue.work(() => ({ sent: true }))

    const end = { state: 'done', result: { sent: true }, failure: null, undecodable: [] }
    expect(await Promise.all(ends)).toEqual([end, end])
  })

  test('reports why a job is dead, and that a job was cancelled', async () => {
    const place = await setup({ clock: 'real' })
    const { queue } = place
    const { id } = await queue.enqueue('mail', { to }, { maxAttempts: 1 })
    const dead = queue.jobs.waitForResult(id, { wait: '1h' })
    await waiting(place, id, 1)
    await (await queue.claim())[0]?.retry({ kind: 'Broken', message: 'it broke' })
    expect(await dead).toEqual({
      state: 'dead',
      result: null,
      failure: { kind: 'Broken', message: 'it broke' },
      undecodable: [],
    })

    const other = await queue.enqueue('mail', { to })
    const cancelled = queue.jobs.waitForResult(other.id, { wait: '1h' })
    await waiting(place, other.id, 1)
    await queue.jobs.cancel([other.id])
    expect(await cancelled).toMatchObject({ state: 'cancelled' })
  })

  test('finds the end of a job that ended before, if it was kept', async () => {
    const { queue, clock } = await setup()
    await queue.enqueue('mail', { to }, { id: 'kept', resultTtl: '1m' })
    await queue.enqueue('mail', { to }, { id: 'not kept' })
    expect(await queue.jobs.waitForResult('kept')).toBe(null)
    for (const job of await queue.claim({ limit: 2 })) await job.ack([job.id])

    expect(await queue.jobs.waitForResult('kept')).toMatchObject({ state: 'done', result: ['kept'] })
    expect(await queue.jobs.waitForResult('not kept')).toMatchObject({ state: 'absent', result: null })
    await clock.advance(60_000)
    expect(await queue.jobs.waitForResult('kept', { wait: '1h' })).toMatchObject({ state: 'absent' })
  })

  test('notifies all waiters of one process, for any number of them', async () => {
    const place = await setup({ clock: 'real' })
    const { queue, redis, name, calls } = place
    const { id } = await queue.enqueue('mail', { to })
    const ends = Array.from({ length: 300 }, () =>
      // Each through a handle of its own, as in the requests of a service.
      redis.queue(name).jobs.waitForResult(id, { wait: '1h' }),
    )
    const asked = () => calls.filter((each) => each === 'queue/await-end').length
    await until(() => asked() === 600)
    await waiting(place, id, 1)
    for (const job of await queue.claim()) await job.ack('sent')

    expect(new Set((await Promise.all(ends)).map((end) => end?.result))).toEqual(new Set(['sent']))
    // Once at the start, once with their name, and once when they were notified.
    expect(asked()).toBe(900)
  })

  test('continues for the other waiters when one of them leaves', async () => {
    const place = await setup({ clock: 'real' })
    const { queue } = place
    const { id } = await queue.enqueue('mail', { to })
    const aborter = new AbortController()
    const aborted = queue.jobs.waitForResult(id, { wait: '1h', signal: aborter.signal })
    const other = queue.jobs.waitForResult(id, { wait: '1h' })
    await waiting(place, id, 1)
    aborter.abort(new Error('enough'))
    await expect(aborted).rejects.toThrow('enough')
    for (const job of await queue.claim()) await job.ack('sent')

    expect(await other).toMatchObject({ result: 'sent' })
  })

  test('ends with its time and its signal, and leaves no keys', async () => {
    const place = await setup({ clock: 'real' })
    const { queue } = place
    const { id } = await queue.enqueue('mail', { to })
    expect(await queue.jobs.waitForResult(id, { wait: '20ms' })).toBe(null)
    await waiting(place, id, 0)

    const aborter = new AbortController()
    const ends = queue.jobs.waitForResult(id, { wait: '1h', signal: aborter.signal })
    await waiting(place, id, 1)
    aborter.abort(new Error('enough'))
    await expect(ends).rejects.toThrow('enough')
    await waiting(place, id, 0)
  })

  test('keeps few ends that have expired', async () => {
    const { queue, client, name, clock } = await setup()
    for (let time = 0; time < 100; time += 1) {
      const { id } = await queue.enqueue('mail', { to }, { resultTtl: '1ms' })
      await queue.jobs.cancel([id])
      await clock.advance(1)
    }
    // Two fields each; expired ones are picked at random.
    expect(await client.hlen(`queue-test:{queue:${name}}:results`)).toBeLessThan(100)
  })

  test('needs a name and a time', async () => {
    const { queue } = await setup()
    await expect(queue.jobs.waitForResult('')).rejects.toBeInstanceOf(InvalidArgumentError)
    await expect(queue.jobs.waitForResult('1', { wait: '2h' })).rejects.toBeInstanceOf(InvalidArgumentError)
    await expect(queue.enqueue('mail', { to }, { resultTtl: '31d' })).rejects.toBeInstanceOf(
      InvalidArgumentError,
    )
  })
})
