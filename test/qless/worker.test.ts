// There is no register of workers: the holder of a token has the job, under any name. Instead, claimed jobs are listed,
// each with its attempt, and waiting workers are counted.

import type { Redis } from 'ioredis'
import { ioredis } from 'perilune/ioredis'
import { describe, expect, test } from 'vitest'
import contract from '../../lua/contract.json' with { type: 'json' }
import { runOperation } from '../../src/testing/run-operation.ts'
import type { Contract } from '../../src/testing/vector-contract.ts'
import { setup, until } from '../queue-fixture.ts'
import { begin, type Place, SECOND } from './fixture.ts'

const TWO_HOURS = 2 * 3_600_000

/** Jobs at work, each with its attempt. */
async function atWork({ queue }: Pick<Place, 'queue'>): Promise<[string, number | null][]> {
  return (await queue.jobs.list('claimed')).jobs.map(({ id, token }) => [id, token])
}

/** A worker claims, finds nothing, and falls silent. */
async function waitAs(worker: string, client: Redis, name: string): Promise<void> {
  const place = { channel: 'queue-test:{queue:}:wake', sharded: false, counted: true }
  const who = { codec: 'json', partitions: 0, caller: '', call: '', worker }
  const args = { ...who, limit: 1, lease_ms: 1000, ...place, acks: [] }
  const prefix = `queue-test:{queue:${name}}:`
  await runOperation(ioredis(client), contract as unknown as Contract, 'queue/ack-and-claim', prefix, args)
}

describe('TestWorker', () => {
  test('test_basic: claimed jobs are listed with their attempts', async () => {
    const place = await begin()
    const { token } = await place.putAndPop('a')

    expect(await atWork(place)).toEqual([['a', token]])
  })

  // Before the worker looks by itself, ten seconds after it began to wait.
  test('test_worker_registration_lapse: a waiting worker whose process has died is skipped', {
    timeout: 9000,
  }, async () => {
    const { queue, client, name } = await setup({ clock: 'real' })
    const idle = async (count: number): Promise<void> =>
      until(async () => (await queue.inspect()).idle === count)
    await waitAs('gone.1', client, name)
    const done: string[] = []
    await using _worker = queue.work({ mail: ({ payload }) => done.push(payload.to) })
    await idle(2)
    // Until it hears it looks more often.
    await new Promise((resolve) => setTimeout(resolve, 700))
    await idle(2)

    await queue.enqueue('mail', { to: 'ada' })
    await until(() => done.length === 1)

    await idle(1)
  })

  test('test_worker_heartbeat_registration: the token is enough to extend a job, in any process', async () => {
    const place = await begin()
    const { id, token } = await place.putAndPop('a')
    const elsewhere = (await setup()).redis.queue(place.name)

    const { jobs } = await elsewhere.byToken.extend([{ id, token }], '1h')

    expect(jobs).toEqual([{ outcome: 'extended' }])
  })

  test('test_stalled: jobs whose lease ended are counted as overdue', async () => {
    const place = await begin()
    const { token } = await place.putAndPop('a')
    await place.clock.advance(60 * SECOND)

    expect([await atWork(place), await place.count('overdue')]).toEqual([[['a', token]], 1])
  })

  test('test_locks: a job that was claimed again is listed with the newer attempt', async () => {
    const place = await begin()
    const first = await place.putAndPop('a')
    await place.clock.advance(60 * SECOND)
    const [second] = await place.pop()

    expect(await atWork(place)).toEqual([['a', second?.token]])
    expect(second?.token).toBeGreaterThan(first.token)
  })

  test('test_cancelled: a job that is asked to stop is claimed until its worker gives it up', async () => {
    const place = await begin()
    const { id, token } = await place.putAndPop('a')
    await place.queue.jobs.cancel(['a'])
    expect([await atWork(place), await place.stateOf('a')]).toEqual([[['a', token]], 'stopping'])

    await place.queue.byToken.release([{ id, token }])

    expect([await atWork(place), await place.stateOf('a')]).toEqual([[], 'absent'])
  })

  test('test_failed: a dead job is no longer claimed', async () => {
    const place = await begin()
    await (await place.putAndPop('a')).fail()

    expect(await atWork(place)).toEqual([])
  })

  test('test_complete: a done job is no longer claimed', async () => {
    const place = await begin()
    await (await place.putAndPop('a')).ack()

    expect(await atWork(place)).toEqual([])
  })

  test('test_put: a job that was given back is no longer claimed', async () => {
    const place = await begin()
    await (await place.putAndPop('a')).release()

    expect([await atWork(place), await place.stateOf('a')]).toEqual([[], 'ready'])
  })

  test('test_reregister: a closed worker no longer waits, and another one takes its place', async () => {
    const { queue } = await setup({ clock: 'real' })
    const idle = async (): Promise<number> => (await queue.inspect()).idle
    const worker = queue.work({})
    await until(async () => (await idle()) === 1)
    await worker.close()
    expect(await idle()).toBe(0)

    await using _next = queue.work({})
    await until(async () => (await idle()) === 1)
  })

  test('test_expiration: waiting workers are forgotten two hours after the last of them', async () => {
    const { queue, client, name } = await setup({ clock: 'real' })
    await using _worker = queue.work({})
    await until(async () => (await queue.inspect()).idle === 1)

    const ttl = await client.pttl(`queue-test:{queue:${name}}:idle`)

    expect(ttl).toBeGreaterThan(0)
    expect(ttl).toBeLessThanOrEqual(TWO_HOURS)
  })

  test('test_unregistered: a queue that no worker ever used can be inspected like any other', async () => {
    const { queue } = await begin()

    expect([await atWork({ queue }), await queue.inspect()]).toMatchObject([[], { claimed: 0, idle: 0 }])
  })

  test('test_retry_worker: a job that will be retried is no longer claimed', async () => {
    const place = await begin()
    await (await place.putAndPop('a')).retry()

    expect([await atWork(place), await place.stateOf('a')]).toEqual([[], 'scheduled'])
  })
})
