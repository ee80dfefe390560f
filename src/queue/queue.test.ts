import { InvalidArgumentError, LeaseLostError } from 'perilune'
import { describe, expect, test } from 'vitest'
import { Clearings } from '../runtime/calls/clearings.ts'
import { End } from '../runtime/keeper/grant.ts'
import { setup } from '../../test/queue-fixture.ts'
import { toClaimedJobs } from './claims/claim.ts'
import type { Exchanged } from './claims/exchange.ts'
import { type JobOptions, PLAIN, toSpecOptions } from './jobs/job-options.ts'

const to = 'customer'

describe('enqueue and claim', () => {
  test('jobs are claimed in the order in which they were enqueued, with their options', async () => {
    const { queue } = await setup()
    const first = await queue.enqueue('mail', { to })
    await queue.enqueueMany([
      { name: 'image', payload: { url: 'a' }, group: 'g', tags: ['x', 'y'], trace: '00-1', maxAttempts: 7 },
      { name: 'mail', payload: { to: 'other' } },
    ])

    const jobs = await queue.claim({ limit: 10 })

    expect(jobs).toHaveLength(3)
    expect(jobs.map(({ name }) => name).toSorted()).toEqual(['image', 'mail', 'mail'])
    const one = jobs.find(({ id }) => id === first.id)
    expect(one).toMatchObject({
      payload: { to },
      attempt: 1,
      maxAttempts: 3,
      priority: 0,
      group: '',
      tags: [],
    })
    const image = jobs.find(({ name }) => name === 'image')
    expect(image).toMatchObject({ group: 'g', tags: ['x', 'y'], trace: '00-1', maxAttempts: 7 })
    expect(new Set(jobs.map(({ token }) => token)).size).toBe(3)
  })

  test('jobs that are enqueued in one tick share one call', async () => {
    const { queue, calls } = await setup()
    await queue.enqueue('mail', { to })
    const before = calls.length

    await Promise.all(Array.from({ length: 500 }, () => queue.enqueue('mail', { to })))

    expect(calls.length - before).toBeLessThanOrEqual(2)
    expect(await queue.settings.inspect()).toMatchObject({ ready: 501 })
  })

  test('a higher priority comes first, and a delayed job waits', async () => {
    const { queue, clock } = await setup()
    await queue.enqueue('mail', { to: 'plain' })
    await queue.enqueue('mail', { to: 'high' }, { priority: 5 })
    await queue.enqueue('mail', { to: 'low' }, { priority: -5 })
    await queue.enqueue('mail', { to: 'late' }, { delay: '10s', priority: 9 })

    const order = (await queue.claim({ limit: 10 })).map(({ payload }) => payload)
    expect(order).toEqual([{ to: 'high' }, { to: 'plain' }, { to: 'low' }])

    await clock.advance(10_000)
    expect((await queue.claim()).map(({ payload }) => payload)).toEqual([{ to: 'late' }])
  })

  test('an own id is taken until the job is removed', async () => {
    const { queue } = await setup()
    const first = await queue.enqueue('mail', { to }, { id: 'invoice-1' })
    const second = await queue.enqueue('mail', { to: 'again' }, { id: 'invoice-1' })
    const [job] = await queue.claim({ limit: 5 })
    await job?.ack()

    expect(first).toEqual({ id: 'invoice-1', duplicate: false })
    expect(second).toEqual({ id: 'invoice-1', duplicate: true })
    expect(job).toMatchObject({ id: 'invoice-1', payload: { to } })
    expect(await queue.enqueue('mail', { to }, { id: 'invoice-1' })).toMatchObject({ duplicate: false })
  })

  test('a unique job with `replace` takes the newest payload, and its delay starts again', async () => {
    const { queue, clock } = await setup()
    const options = { delay: '10s', unique: { key: 'search', until: 'started', replace: true } } as const
    const { id } = await queue.enqueue('mail', { to: 'first' }, options)
    await clock.advance(9000)
    expect(await queue.enqueue('mail', { to: 'second' }, options)).toEqual({ id, duplicate: true })
    await clock.advance(9000)
    expect(await queue.claim()).toEqual([])

    await clock.advance(1000)
    const [job] = await queue.claim({ limit: 5 })

    expect(job).toMatchObject({ id, payload: { to: 'second' } })
    expect(await queue.enqueue('mail', { to: 'third' }, options)).toMatchObject({ duplicate: false })
  })

  test('a waiting claim is woken up by a job', async () => {
    const { queue } = await setup({ clock: 'real' })
    const claimed = queue.claim({ wait: '20s' })
    while ((await queue.settings.inspect()).idle === 0) await new Promise((resolve) => setTimeout(resolve, 2))

    await queue.enqueue('mail', { to })

    expect(await claimed).toMatchObject([{ payload: { to } }])
    expect(await queue.settings.inspect()).toMatchObject({ idle: 0 })
  })

  test('a claim that waits without success returns no jobs, and an aborted one rejects with the reason', async () => {
    const { queue } = await setup({ clock: 'real' })
    expect(await queue.claim({ wait: '20ms' })).toEqual([])

    const claimed = queue.claim({ wait: '20s', signal: AbortSignal.timeout(20) })

    await expect(claimed).rejects.toThrow(/timeout/)
    expect(await queue.settings.inspect()).toMatchObject({ idle: 0 })
  })
})

describe('a claimed job', () => {
  test('is discarded when its lease ended before the answer arrived', () => {
    const claimed = { number: '1', token: 1, attempt: 1, name: 'mail', payload: Buffer.from('{}') }
    const exchanged = (endsAt: number): Exchanged => ({
      nowMs: 0,
      askedAt: 0,
      leaseMs: 30_000,
      jobs: [claimed],
      options: [],
      endsAtMs: 0,
      end: new End(endsAt),
      waits: false,
      recheckMs: 0,
      paused: false,
      refused: new Map(),
    })

    expect(toClaimedJobs({} as never, {} as never, exchanged(performance.now() - 1))).toEqual([])
    expect(
      toClaimedJobs(
        { unit: { runtime: { clearings: new Clearings() } } } as never,
        {} as never,
        exchanged(performance.now() + 60_000),
      ),
    ).toHaveLength(1)
  })

  test('is removed once it is acked, and cannot be settled again', async () => {
    const { queue } = await setup()
    const { id } = await queue.enqueue('mail', { to })
    const [job] = await queue.claim()

    await job?.ack()

    expect(await queue.jobs.get(id)).toBe(null)
    expect(await queue.settings.inspect()).toMatchObject({ ready: 0, claimed: 0, acked: 1, readyBytes: 0 })
    await expect(job?.retry()).rejects.toThrow(LeaseLostError)
  })

  test('is acked in the call that claims the next', async () => {
    const { queue } = await setup()
    await queue.enqueueMany([
      { name: 'mail', payload: { to: 'first' } },
      { name: 'mail', payload: { to: 'second' } },
    ])
    const acks = await queue.claim()

    const [next] = await queue.claim({ acks })
    expect(await queue.claim({ acks: [...acks, ...(next === undefined ? [] : [next])] })).toEqual([])

    expect([acks[0]?.outcome, next?.outcome, next?.payload]).toEqual(['acked', 'acked', { to: 'second' }])
    expect(await queue.settings.inspect()).toMatchObject({ acked: 2, ready: 0, claimed: 0 })
    await expect(queue.claim({ acks: [{}] as never })).rejects.toThrow(InvalidArgumentError)
  })

  test('can be acked after its lease while no call has reclaimed it', async () => {
    const { queue, clock } = await setup()
    await queue.enqueue('mail', { to })
    const [job] = await queue.claim({ lease: '10s' })
    await clock.advance(11_000)

    await job?.ack()

    expect(await queue.claim()).toEqual([])
  })

  test('is claimed again when its lease is over, and the first attempt is rejected, also within one worker', async () => {
    const { queue, clock } = await setup()
    await queue.enqueue('mail', { to })
    const [first] = await queue.claim({ lease: '10s' })
    await clock.advance(10_001)
    const [second] = await queue.claim({ lease: '10s' })

    await expect(first?.ack()).rejects.toThrow(/lost/)
    expect(second).toMatchObject({ id: first?.id, attempt: 2 })
    expect(second?.token).toBeGreaterThan(first?.token ?? 0)
    await second?.ack()
  })

  test('waits for its backoff before the next attempt, and is dead after the last', async () => {
    const { queue, clock } = await setup()
    const backoff = { kind: 'exponential', base: '1s', jitter: 0 } as const
    const { id } = await queue.enqueue('mail', { to }, { maxAttempts: 3, backoff })
    for (const [attempt, waitMs] of [1000, 2000].entries()) {
      const [job] = await queue.claim()
      expect(job?.attempt).toBe(attempt + 1)
      expect(await job?.retry({ kind: 'Down', message: 'no answer' })).toBe('retried')
      await clock.advance(waitMs - 1)
      expect(await queue.claim()).toEqual([])
      await clock.advance(1)
    }

    const [last] = await queue.claim()
    expect(await last?.retry({ kind: 'Down', message: 'no answer at all' })).toBe('dead')

    expect(await queue.jobs.get(id)).toMatchObject({
      state: 'dead',
      attempts: 3,
      failure: { kind: 'Down', message: 'no answer at all' },
    })
    expect(await queue.dead.list()).toMatchObject([{ kind: 'Down', count: 1, sample: { id } }])
  })

  test('that is dead can be requeued, alone or with all of its kind of failure', async () => {
    const { queue } = await setup()
    await queue.enqueueMany(
      Array.from({ length: 450 }, (_, at) => ({ name: 'mail', payload: { to: `${at}` } })),
    )
    for (let left = 450; left > 0; left -= 150) {
      const jobs = await queue.claim({ limit: 150 })
      await Promise.all(jobs.map((job) => job.fail({ kind: 'BadAddress' })))
    }
    const [dead] = (await queue.jobs.list('dead', { limit: 1 })).jobs

    expect(await queue.jobs.requeue([dead?.id ?? '', 'unknown'])).toEqual(['requeued', 'absent'])
    expect(await queue.dead.requeue('BadAddress')).toBe(449)

    expect(await queue.settings.inspect()).toMatchObject({ ready: 450, dead: 0, deadBytes: 0 })
    expect(await queue.dead.list()).toEqual([])
    expect(await queue.claim()).toMatchObject([{ attempt: 1 }])
  })

  test('is extended by the requested lease', async () => {
    const { queue, clock } = await setup()
    await queue.enqueue('mail', { to })
    const [job] = await queue.claim({ lease: '10s' })
    await clock.advance(9000)
    await job?.extend('20s')
    await clock.advance(19_000)

    expect(await queue.claim()).toEqual([])
  })
})

describe('settings', () => {
  test('a paused queue gives out no jobs, and can be resumed', async () => {
    const { queue } = await setup()
    await queue.enqueue('mail', { to })
    await queue.settings.pause()
    expect(await queue.claim()).toEqual([])
    expect(await queue.settings.inspect()).toMatchObject({ paused: true, ready: 1 })

    await queue.settings.resume()

    expect(await queue.claim()).toHaveLength(1)
  })

  test('concurrency and rate limit the claimed jobs', async () => {
    const { queue, clock } = await setup()
    await queue.enqueueMany(Array.from({ length: 20 }, () => ({ name: 'mail', payload: { to } })))
    await queue.settings.set({ concurrency: 3, rate: { limit: 5, window: '1s' } })

    const first = await queue.claim({ limit: 10 })
    await Promise.all(first.map((job) => job.ack()))
    const second = await queue.claim({ limit: 10 })

    expect([first.length, second.length]).toEqual([3, 2])
    await Promise.all(second.map((job) => job.ack()))
    await clock.advance(200)
    expect(await queue.claim({ limit: 10 })).toHaveLength(1)
  })

  test('groups take turns, each within its own settings', async () => {
    const { queue } = await setup()
    const jobs = (group: string, count: number) =>
      Array.from({ length: count }, () => ({ name: 'mail' as const, payload: { to: group }, group }))
    await queue.enqueueMany([...jobs('a', 100), ...jobs('b', 3), ...jobs('c', 3)])
    await queue.settings.setGroup('c', { concurrency: 1 })

    const claimed = await queue.claim({ limit: 8 })

    const of = (group: string) => claimed.filter((job) => job.group === group)
    expect(['a', 'b', 'c'].map((group) => of(group).length)).toEqual([4, 3, 1])
    await of('c')[0]?.ack()
    expect((await queue.claim({ limit: 2 })).map(({ group }) => group).toSorted()).toEqual(['a', 'c'])
  })

  test('done jobs are kept according to the retention', async () => {
    const { queue, clock } = await setup()
    await queue.settings.set({ retention: { count: 2, age: '1m' } })
    const ids: string[] = []
    for (let at = 0; at < 3; at++) {
      ids.push((await queue.enqueue('mail', { to: `${at}` })).id)
      const [job] = await queue.claim()
      await job?.ack({ sent: at })
    }

    expect(await queue.jobs.get(ids[0] ?? '')).toBe(null)
    expect(await queue.jobs.get(ids[2] ?? '')).toMatchObject({ state: 'done', result: { sent: 2 } })
    await clock.advance(60_001)
    await queue.enqueue('mail', { to })
    const [job] = await queue.claim()
    await job?.ack()
    expect(await queue.settings.inspect()).toMatchObject({ done: 1 })
  })
})

describe('looking at jobs', () => {
  test('jobs are listed by state, page by page, and searched by name, tag and state', async () => {
    const { queue } = await setup()
    await queue.enqueueMany(
      Array.from({ length: 120 }, (_, at) => ({
        name: at % 2 === 0 ? ('mail' as const) : ('image' as const),
        payload: { to, url: `${at}` },
        tags: at === 7 ? ['lucky'] : [],
      })),
    )

    const first = await queue.jobs.list('ready', { limit: 100 })
    const second = await queue.jobs.list('ready', { limit: 100, after: first.next ?? '' })

    expect([first.jobs.length, second.jobs.length, second.next]).toEqual([100, 20, null])
    expect(await everything(queue.jobs, { name: 'image' })).toHaveLength(60)
    expect(await everything(queue.jobs, { tag: 'lucky' })).toMatchObject([{ tags: ['lucky'] }])
    expect(await everything(queue.jobs, { state: 'dead' })).toEqual([])
  })
})

test('empty options make a plain job', () => {
  expect(toSpecOptions({})).toBe(PLAIN)
})

describe('bad input', () => {
  const wrong: [string, JobOptions][] = [
    ['id', { id: '123' }],
    ['delay', { delay: '-1s' }],
    ['priority', { priority: 1.5 }],
    ['maxAttempts', { maxAttempts: 0 }],
    ['backoff.kind', { backoff: { kind: 'none' as never, base: '1s' } }],
    ['backoff.jitter', { backoff: { kind: 'fixed', base: '1s', jitter: 2 } }],
    ['maxRun', { maxRun: 'soon' as never }],
    ['group', { group: '' }],
    ['unique.key', { unique: '' }],
    ['unique.until', { unique: { key: 'k', until: 'never' as never } }],
    ['tags', { tags: 'one' as never }],
    ['trace', { trace: '\n' }],
    ['options.retries', { retries: 3 } as never],
  ]

  test.each(wrong)('the error names %s, and nothing is enqueued', async (argument, options) => {
    const { queue } = await setup()
    const error = await queue.enqueue('mail', { to }, options).catch((reason: unknown) => reason)

    expect(error).toBeInstanceOf(InvalidArgumentError)
    expect(error).toMatchObject({ argument })
    expect(await queue.settings.inspect()).toMatchObject({ ready: 0, scheduled: 0 })
  })
})

async function everything(
  jobs: Awaited<ReturnType<typeof setup>>['queue']['jobs'],
  wanted: Parameters<typeof jobs.search>[0],
): Promise<unknown[]> {
  const found = new Map<string, unknown>()
  let after: string | null = '0'
  while (after !== null) {
    const page: Awaited<ReturnType<typeof jobs.search>> = await jobs.search({ ...wanted, after })
    for (const job of page.jobs) found.set(job.id, job)
    after = page.next
  }
  return [...found.values()]
}

test.each(['', 'a\u0000b', 'x'.repeat(513)])(
  'a name that cannot be one is refused before anything is sent: %j',
  async (name) => {
    const { queue, calls } = await setup()

    await expect(queue.enqueue(name as 'mail', { to: 'a' })).rejects.toMatchObject({ argument: 'name' })
    await expect(queue.enqueueMany([{ name: name as 'mail', payload: { to: 'a' } }])).rejects.toMatchObject({
      argument: 'name',
    })
    expect(calls).toEqual([])
  },
)
