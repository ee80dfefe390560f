import { InvalidArgumentError, LeaseLostError } from 'perilune'
import { describe, expect, test } from 'vitest'
import { setup } from '../../../test/queue-fixture.ts'

const to = 'customer'

describe('progress and log', () => {
  test('are returned with the job while it runs, and are removed with it', async () => {
    const { queue, client, name, clock } = await setup()
    const { id } = await queue.enqueue('mail', { to })
    expect(await queue.jobs.get(id)).toMatchObject({ progress: null, log: [] })
    const [job] = await queue.claim()

    await job?.log('connected')
    await clock.advance(5)
    await Promise.all([job?.progress({ sent: 1 }), job?.log('half of it'), job?.progress({ sent: 2 })])

    const found = await queue.jobs.get(id)
    expect(found).toMatchObject({
      progress: { sent: 2 },
      log: [{ line: 'connected' }, { line: 'half of it' }],
    })
    expect((found?.log[1]?.atMs ?? 0) - (found?.log[0]?.atMs ?? 0)).toBe(5)
    await job?.ack()
    expect(await client.hkeys(`queue-test:{queue:${name}}:jobs`)).toEqual(['~'])
  })

  test('stay with a job that is kept or dead', async () => {
    const { queue } = await setup()
    await queue.settings.set({ retention: { count: 5 } })
    const { id } = await queue.enqueue('mail', { to })
    await queue.enqueue('mail', { to }, { id: 'dead' })
    const [kept, dead] = await queue.claim({ limit: 2 })
    await Promise.all([kept?.progress(1), dead?.progress(2), dead?.log('no')])
    await kept?.ack()
    await dead?.fail()

    expect(await queue.jobs.get(id)).toMatchObject({ state: 'done', progress: 1 })
    expect(await queue.jobs.get('dead')).toMatchObject({ state: 'dead', progress: 2, log: [{ line: 'no' }] })
  })

  test('are rejected for an attempt that lost its job, which is notified', async () => {
    const { queue, clock } = await setup()
    const { id } = await queue.enqueue('mail', { to })
    const [first] = await queue.claim({ lease: '10s' })
    await clock.advance(10_001)
    const [second] = await queue.claim()

    await expect(first?.progress(1)).rejects.toBeInstanceOf(LeaseLostError)
    expect(first?.signal.aborted).toBe(true)
    await second?.progress(2)
    expect(await queue.jobs.get(id)).toMatchObject({ progress: 2 })
    await queue.jobs.cancel([id])
    await expect(second?.log('still here')).rejects.toThrow('cancelled')
  })

  test('are accepted from any caller with the id and the token', async () => {
    const { queue } = await setup()
    await queue.enqueue('mail', { to }, { id: 'own' })
    const { jobs } = await queue.claimDetached()
    const lease = { id: 'own', token: jobs[0]?.token ?? 0 }

    expect(await queue.byToken.progress(lease, 7)).toEqual({ outcome: 'noted' })
    expect(await queue.byToken.log(lease, 'well')).toEqual({ outcome: 'noted' })
    const stale = { id: 'own', token: lease.token - 1 }
    expect(await queue.byToken.progress(stale, 8)).toEqual({ outcome: 'lost', reason: 'lost' })
    expect(await queue.jobs.get('own')).toMatchObject({ progress: 7, log: [{ line: 'well' }] })
  })

  // qless: test_log, test_log_nonexistent.
  test('any caller may add a line to the log of a job that exists', async () => {
    const { queue, client, name } = await setup()
    const { id } = await queue.enqueue('mail', { to })

    expect(await queue.jobs.log(id, 'seen by support')).toBe(true)
    expect(await queue.jobs.log('absent', 'lost')).toBe(false)
    expect(await queue.jobs.get(id)).toMatchObject({ state: 'ready', log: [{ line: 'seen by support' }] })
    const [job] = await queue.claim()
    expect(job).toMatchObject({ id, attempt: 1 })
    await job?.ack()
    expect(await client.hkeys(`queue-test:{queue:${name}}:jobs`)).toEqual(['~'])
  })

  test('a log keeps its newest hundred lines, none longer than 1,024 bytes', async () => {
    const { queue } = await setup()
    const { id } = await queue.enqueue('mail', { to })
    for (let line = 0; line < 130; line += 1) await queue.jobs.log(id, `line ${line}`)
    await queue.jobs.log(id, 'ä'.repeat(600))

    const log = (await queue.jobs.get(id))?.log ?? []
    expect(log).toHaveLength(100)
    expect(log[0]?.line).toBe('line 31')
    expect(log.at(-1)?.line).toBe('ä'.repeat(512))
  })

  test('values that cannot be stored are rejected', async () => {
    const { queue } = await setup()
    await queue.enqueue('mail', { to })
    const [job] = await queue.claim()

    await expect(job?.progress('x'.repeat(70_000))).rejects.toBeInstanceOf(InvalidArgumentError)
    await expect(job?.log(5 as never)).rejects.toBeInstanceOf(InvalidArgumentError)
    await expect(queue.jobs.log('', 'line')).rejects.toBeInstanceOf(InvalidArgumentError)
  })
})
