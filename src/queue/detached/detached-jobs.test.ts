import { InvalidArgumentError, type JobLease } from 'perilune'
import { describe, expect, test } from 'vitest'
import { setup, until } from '../../../test/queue-fixture.ts'

const to = 'customer'
const mail = { name: 'mail', payload: { to } } as const

describe('detached jobs', () => {
  test('are plain records, with the end of their leases', async () => {
    const { queue, clock } = await setup()
    const { id } = await queue.enqueue('mail', { to }, { group: 'g', tags: ['x'], maxRun: '5s' })
    const { jobs, leaseMs, expiresAtMs } = await queue.claimDetached({ limit: 10, lease: '1m' })

    const found = await queue.jobs.get(id)
    expect(leaseMs).toBe(60_000)
    expect(expiresAtMs).toBe((found?.atMs ?? 0) + 60_000)
    expect(jobs).toEqual([
      {
        id,
        token: found?.token,
        name: 'mail',
        payload: { to },
        attempt: 1,
        maxAttempts: 3,
        priority: 0,
        group: 'g',
        tags: ['x'],
        trace: '',
        maxRunMs: 5000,
        enqueuedAtMs: found?.enqueuedAtMs,
      },
    ])
    await clock.advance(60_001)
    expect((await queue.claimDetached()).jobs).toMatchObject([{ id, attempt: 2 }])
  })

  test('a claim waits for them, and is empty when none came in time', async () => {
    const { queue } = await setup({ clock: 'real' })
    expect((await queue.claimDetached({ wait: '20ms' })).jobs).toEqual([])

    const claiming = queue.claimDetached({ wait: '30s' })
    await until(async () => (await queue.settings.inspect()).idle === 1)
    const { id } = await queue.enqueue('mail', { to })
    expect((await claiming).jobs).toMatchObject([{ id }])
  })
})

describe('by token', () => {
  test('jobs are acked, each with its result, by own ids and by those of the queue', async () => {
    const { queue } = await setup()
    await queue.settings.set({ retention: { count: 10 } })
    await queue.enqueueMany([mail, { ...mail, id: 'own' }])
    const { jobs } = await queue.claimDetached({ limit: 10 })

    const acks = jobs.map(({ id, token }) => ({ id, token, result: { of: id } }))
    expect(await queue.byToken.ack(acks)).toEqual([{ outcome: 'acked' }, { outcome: 'acked' }])

    const done = await queue.jobs.getMany(jobs.map(({ id }) => id))
    expect(done.map(({ state, result }) => [state, result])).toEqual(
      jobs.map(({ id }) => ['done', { of: id }]),
    )
  })

  test('a lost job reports the reason, and does not affect the others', async () => {
    const { queue, clock } = await setup()
    await queue.enqueueMany([mail, mail, mail])
    const { jobs } = await queue.claimDetached({ limit: 3, lease: '1s' })
    const [stale, stopped, good] = jobs.map(({ id, token }) => ({ id, token }))
    if (!stale || !stopped || !good) throw new Error('three were to be claimed')
    await queue.byToken.extend([stopped, good], '1h')
    await clock.advance(1001)
    await queue.claimDetached()
    await queue.jobs.cancel([stopped.id])

    const unknown = { id: 'absent', token: 1 }
    expect(await queue.byToken.extend([stale, stopped, unknown, good], '1m')).toMatchObject({
      leaseMs: 60_000,
      jobs: [
        { outcome: 'lost', reason: 'lost' },
        { outcome: 'lost', reason: 'cancelled' },
        { outcome: 'lost', reason: 'absent' },
        { outcome: 'extended' },
      ],
    })
    expect(await queue.byToken.ack([stale, unknown, good])).toEqual([
      { outcome: 'lost', reason: 'lost' },
      { outcome: 'lost', reason: 'absent' },
      { outcome: 'acked' },
    ])
  })

  test('jobs are acked with next jobs, each with a result of its own', async () => {
    const { queue, another } = await setup()
    const other = await another()
    await queue.settings.set({ retention: { count: 10 } })
    await queue.enqueueMany([mail, { ...mail, id: 'own' }, mail])
    const [a, b, c] = (await queue.claimDetached({ limit: 3 })).jobs.map(({ id, token }) => ({ id, token }))
    if (!a || !b || !c) throw new Error('three were to be claimed')
    await queue.enqueue('mail', { to }, { id: 'known', delay: '1h' })

    const next = { name: 'mail', payload: { to: 'next' } }
    const settled = await queue.byToken.ackAndEnqueue([
      { ...a, next, result: 'a' },
      { id: 'absent', token: 1, next },
      { ...b, next: { ...next, queue: other.name } },
      { ...b, next },
      { ...c, next: { ...next, id: 'known' } },
    ])

    const [job] = await queue.claim({ limit: 5 })
    expect(settled).toEqual([
      { outcome: 'acked', next: { id: job?.id, duplicate: false } },
      { outcome: 'lost', reason: 'absent' },
      { outcome: 'acked', next: { id: null, duplicate: false } },
      { outcome: 'lost', reason: 'acked' },
      { outcome: 'acked', next: { id: 'known', duplicate: true } },
    ])
    expect(job?.payload).toEqual({ to: 'next' })
    expect(await queue.jobs.get(a.id)).toMatchObject({ state: 'done', result: 'a' })
    await until(async () => (await other.settings.inspect()).ready === 1)
    expect(await queue.settings.inspect()).toMatchObject({ ready: 0, claimed: 1, done: 3 })
  })

  test('jobs that are acked with next jobs again are lost, and nothing more is enqueued', async () => {
    const { queue } = await setup()
    await queue.enqueueMany(Array.from({ length: 500 }, () => mail))
    const detached = [
      await queue.claimDetached({ limit: 200 }),
      await queue.claimDetached({ limit: 200 }),
      await queue.claimDetached({ limit: 100 }),
    ]
    const jobs = detached.flatMap((each) => each.jobs).map(({ id, token }) => ({ id, token, next: mail }))
    const settled = await queue.byToken.ackAndEnqueue(jobs)
    const again = await queue.byToken.ackAndEnqueue(jobs)

    expect(new Set(settled.map((each) => each.outcome === 'acked' && each.next.id)).size).toBe(500)
    expect(new Set(again.map((each) => each.outcome === 'lost' && each.reason))).toEqual(new Set(['absent']))
    expect(await queue.settings.inspect()).toMatchObject({ ready: 500, enqueued: 1000, acked: 500 })
  })

  test('jobs are retried, also with a delay, and are dead after their last attempt', async () => {
    const { queue, clock } = await setup()
    await queue.enqueueMany([mail, { ...mail, maxAttempts: 1 }])
    const { jobs } = await queue.claimDetached({ limit: 2 })

    const why = { delay: '10s', kind: 'http', message: '500' } as const
    const retries = jobs.map(({ id, token }) => ({ id, token, ...why }))
    expect(await queue.byToken.retry(retries)).toEqual([{ outcome: 'retried' }, { outcome: 'dead' }])

    const [again, dead] = await queue.jobs.getMany(jobs.map(({ id }) => id))
    expect([again?.state, dead?.state, dead?.failure?.kind]).toEqual(['scheduled', 'dead', 'http'])
    await clock.advance(10_000)
    expect((await queue.claimDetached()).jobs).toMatchObject([{ id: again?.id, attempt: 2 }])
  })

  test('jobs are released, as if they had not been claimed', async () => {
    const { queue } = await setup()
    await queue.enqueueMany([mail, { ...mail, id: 'own' }])
    const { jobs } = await queue.claimDetached({ limit: 2 })

    const leases = jobs.map(({ id, token }) => ({ id, token }))
    expect(await queue.byToken.release([...leases, { id: 'absent', token: 1 }])).toEqual([
      { outcome: 'released' },
      { outcome: 'released' },
      { outcome: 'lost', reason: 'absent' },
    ])
    expect((await queue.claimDetached({ limit: 2 })).jobs.map(({ attempt }) => attempt)).toEqual([1, 1])
    expect(await queue.byToken.ack(leases)).toMatchObject([{ outcome: 'lost' }, { outcome: 'lost' }])
  })

  test('jobs are released with a delay each, which costs no attempt', async () => {
    const { queue, clock } = await setup()
    await queue.enqueueMany([mail, mail])
    const { jobs } = await queue.claimDetached({ limit: 2 })

    const [later, now] = jobs.map(({ id, token }) => ({ id, token }))
    const given = [{ ...(later as JobLease), delay: '5s' } as const, now as JobLease]
    expect(await queue.byToken.release(given)).toEqual([{ outcome: 'released' }, { outcome: 'released' }])

    expect((await queue.claimDetached({ limit: 2 })).jobs).toMatchObject([{ id: now?.id, attempt: 1 }])
    await clock.advance(5000)
    expect((await queue.claimDetached({ limit: 2 })).jobs).toMatchObject([{ id: later?.id, attempt: 1 }])
  })

  test('a repeated call gets the same answer', async () => {
    const { queue } = await setup()
    await queue.settings.set({ retention: { count: 10 } })
    await queue.enqueueMany([mail, mail, mail])
    const { jobs } = await queue.claimDetached({ limit: 3 })
    const [acked, retried, failed] = jobs.map(({ id, token }) => [{ id, token }])
    if (!acked || !retried || !failed) throw new Error('three were to be claimed')

    for (let time = 0; time < 2; time += 1) {
      expect(await queue.byToken.ack(acked)).toEqual([{ outcome: 'acked' }])
      expect(await queue.byToken.retry(retried.map((job) => ({ ...job, delay: '1h' })))).toEqual([
        { outcome: 'retried' },
      ])
      expect(await queue.byToken.fail(failed)).toEqual([{ outcome: 'dead' }])
    }
    expect(await queue.byToken.ack(failed)).toEqual([{ outcome: 'lost', reason: 'dead' }])
  })

  test('nothing is sent when one of the jobs is invalid', async () => {
    const { queue } = await setup()
    await queue.enqueue('mail', { to })
    const [job] = (await queue.claimDetached()).jobs
    const good = { id: job?.id ?? '', token: job?.token ?? 0 }

    const wrong: [argument: string, call: Promise<unknown>][] = [
      ['jobs', queue.byToken.ack([])],
      ['token', queue.byToken.ack([good, { id: 'a', token: 0 }])],
      ['id', queue.byToken.fail([good, { id: '', token: 1 }])],
      ['delay', queue.byToken.retry([good, { ...good, delay: '-1s' }])],
      ['delay', queue.byToken.release([good, { ...good, delay: '366d' }])],
      ['next', queue.byToken.ackAndEnqueue([{ ...good, next: mail }, good as never])],
      ['next.after', queue.byToken.ackAndEnqueue([{ ...good, next: { ...mail, after: 1 } as never }])],
      ['queue', queue.byToken.ackAndEnqueue([{ ...good, next: { ...mail, queue: '' } }])],
      ['kind', queue.byToken.fail([good, { ...good, kind: '' }])],
      ['job.result', queue.byToken.fail([{ ...good, result: 1 } as never])],
      ['lease', queue.byToken.extend([good], '1ms')],
    ]
    for (const [argument, call] of wrong) {
      const error = await call.catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(InvalidArgumentError)
      expect(error).toMatchObject({ argument })
    }
    expect(await queue.jobs.get(good.id)).toMatchObject({ state: 'claimed' })
  })
})
