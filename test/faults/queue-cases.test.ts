// Cases about attempts at a job that no test of qless covers: which attempt may end it, and what happens to the others.

import { randomUUID } from 'node:crypto'
import { AmbiguousError, type ClaimedJob, LeaseLostError } from 'perilune'
import { expect, inject, onTestFinished, test, vi } from 'vitest'
import { setup } from '../queue-fixture.ts'
import { startProxy } from '../servers/proxy.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const mail = { name: 'mail', payload: { to: 'ada' } } as const

type Mails = Awaited<ReturnType<typeof setup>>['queue']

async function claimOne(queue: Mails): Promise<ClaimedJob> {
  const [job] = await queue.claim({ lease: '1m' })
  if (job === undefined) throw new Error('there is none to claim')
  return job
}

// bull#1355, bullmq#439
test('stale complete by the SAME worker name with an older token is refused', async () => {
  const { queue, clock } = await setup()
  await queue.enqueue('mail', { to: 'ada' })
  const first = await claimOne(queue)
  await clock.advance(MINUTE)
  const second = await claimOne(queue)
  expect(second.token).toBeGreaterThan(first.token)

  await expect(first.ack()).rejects.toThrow(LeaseLostError)

  expect(second.isClaimed).toBe(true)
  await second.ack()
  expect(await queue.inspect()).toMatchObject({ acked: 1, reclaimed: 1, claimed: 0 })
})

test('stale complete after the job was cancelled, failed, retried, moved: refused with a distinct error code each', async () => {
  const { queue, another } = await setup()
  const target = (await another()).name
  await queue.settings.set({ retention: { count: 10 } })
  type End = (lease: { id: string; token: number }) => Promise<unknown>
  const ends: [string, End][] = [
    ['cancelled', ({ id }) => queue.jobs.cancel([id])],
    ['dead', (lease) => queue.byToken.fail([lease])],
    ['retried', (lease) => queue.byToken.retry([lease])],
    ['acked', (lease) => queue.byToken.ackAndEnqueue([{ ...lease, next: { queue: target, ...mail } }])],
  ]

  for (const [reason, end] of ends) {
    await queue.enqueue('mail', { to: reason }, { id: reason })
    const { id, token } = await claimOne(queue)
    await end({ id, token })
    // An ack of one that is done is a repeated ack; a retry is none.
    const late =
      reason === 'acked' ? queue.byToken.retry([{ id, token }]) : queue.byToken.ack([{ id, token }])

    expect(await late, reason).toEqual([{ outcome: 'lost', reason }])
  }
})

// bull#1355, bull#91
test('heartbeat after expiry but before reassignment: succeeds and keeps token; after reassignment: refused', async () => {
  const { queue, clock } = await setup()
  const { id } = await queue.enqueue('mail', { to: 'ada' })
  const first = await claimOne(queue)
  await clock.advance(2 * MINUTE)

  await first.extend('1m')
  expect(await queue.jobs.get(id)).toMatchObject({ state: 'claimed', attempts: 1, token: first.token })
  expect(await queue.claim()).toEqual([])

  await clock.advance(MINUTE)
  const second = await claimOne(queue)
  await expect(first.extend('1m')).rejects.toThrow('(lost)')
  expect(await queue.jobs.get(id)).toMatchObject({ attempts: 2, token: second.token })
})

test('batch complete with a mix of good and stale tokens: good ones applied, stale ones reported individually', async () => {
  const { queue, clock } = await setup()
  for (const id of ['a', 'b', 'c', 'd']) await queue.enqueue('mail', { to: id }, { id })
  const stale = await queue.claim({ limit: 2, lease: '1m' })
  const good = await queue.claim({ limit: 2, lease: '1h' })
  await clock.advance(MINUTE)
  const again = await queue.claim({ limit: 2, lease: '1h' })
  expect(again.map(({ id }) => id)).toEqual(['a', 'b'])

  const [a, c, never, b, d] = [stale[0], good[0], { id: 'never', token: 1 }, stale[1], good[1]]
  const acks = [a, c, never, b, d].map((job) => ({ id: job?.id ?? '', token: job?.token ?? 0 }))
  expect(await queue.byToken.ack(acks)).toEqual([
    { outcome: 'lost', reason: 'lost' },
    { outcome: 'acked' },
    { outcome: 'lost', reason: 'absent' },
    { outcome: 'lost', reason: 'lost' },
    { outcome: 'acked' },
  ])

  await queue.enqueue('mail', { to: 'e' }, { id: 'e' })
  const claimed = await queue.claim({ acks: [...stale, ...again] })
  expect([...stale, ...again].map(({ outcome }) => outcome)).toEqual([null, null, 'acked', 'acked'])
  expect(claimed.map(({ id }) => id)).toEqual(['e'])
})

test('batch fetch of n where n > available + expired + scheduled: no duplicates, right order', async () => {
  const { queue, clock } = await setup()
  const put = (id: string, options: object = {}): Promise<unknown> =>
    queue.enqueue('mail', { to: id }, { id, ...options })
  await put('lost 1')
  await put('lost 2', { priority: -5 })
  await queue.claim({ limit: 2, lease: '1m' })
  await put('due 2', { delay: '40s' })
  await put('due 1', { delay: '30s' })
  await put('ready 1')
  await put('ready 2')
  await put('urgent', { priority: 5 })
  await put('not due', { delay: '2h' })
  await clock.advance(MINUTE)

  const ids = (await queue.claim({ limit: 100 })).map(({ id }) => id)

  expect(ids).toEqual(['lost 1', 'lost 2', 'urgent', 'ready 1', 'ready 2', 'due 1', 'due 2'])
  expect(await queue.claim({ limit: 100 })).toEqual([])
})

// bee-queue#170, bee-queue#438
test('crash between fetch reply lost and client: jobs return after the lease, attempts counted', async () => {
  const proxy = await startProxy(inject('redisPort'))
  onTestFinished(() => proxy.stop())
  const { queue, clock, name } = await setup()
  const { id } = await queue.enqueue('mail', { to: 'ada' })
  const { redis } = await setup({ port: proxy.port, deadline: '300ms' })
  // A server that does not know the script would say so, and not be heard.
  await redis.preload()
  const unheard = redis.queue(name)
  expect((await unheard.inspect()).ready).toBe(1)

  // The server does it, and no answer ever comes, however often it is asked again.
  proxy.cutReplies(100_000, /eval/i)
  await expect(unheard.claim({ lease: '1m' })).rejects.toThrow(AmbiguousError)

  expect(await queue.jobs.get(id)).toMatchObject({ state: 'claimed', attempts: 1 })
  await clock.advance(MINUTE - 1)
  expect(await queue.claim()).toEqual([])
  await clock.advance(1)
  expect(await queue.claim()).toMatchObject([{ id, attempt: 2 }])
})

// bull#91, bull#1243
test('two workers reclaim the same expired job at once: exactly one gets it', async () => {
  const { queue, clock, name } = await setup()
  const others = await Promise.all(Array.from({ length: 4 }, () => setup()))
  const handles = others.map(({ redis }) => redis.queue(name) as unknown as Mails)
  await queue.enqueue('mail', { to: 'ada' }, { maxAttempts: 100 })
  await claimOne(queue)

  for (let attempt = 2; attempt <= 20; attempt++) {
    await clock.advance(MINUTE)
    const claims = await Promise.all(handles.map((handle) => handle.claim({ lease: '1m' })))

    expect(claims.flat().map((job) => job.attempt)).toEqual([attempt])
  }
})

test('clock jump of a client +-1 h: no lock stolen (server time)', async () => {
  const { queue } = await setup({ clock: 'real' })
  await queue.enqueue('mail', { to: 'ada' })
  const job = await claimOne(queue)
  const realNow = Date.now
  onTestFinished(() => void vi.restoreAllMocks())

  for (const skew of [HOUR, -HOUR]) {
    vi.spyOn(Date, 'now').mockImplementation(() => realNow() + skew)
    const skewed = (await setup({ clock: 'real' })).redis.queue(queue.name)

    expect(await skewed.claim()).toEqual([])
    const { id } = await skewed.enqueue('mail', { to: 'bob' }, { delay: '10m', id: randomUUID() })
    expect(await skewed.claim()).toEqual([])
    await skewed.jobs.cancel([id])
  }

  await job.ack()
  expect(await queue.inspect()).toMatchObject({ acked: 1, reclaimed: 0 })
})
