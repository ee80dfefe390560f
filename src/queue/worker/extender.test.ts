import { AmbiguousError, type ClaimedJob } from 'perilune'
import { afterEach, beforeEach, describe, expect, inject, onTestFinished, test } from 'vitest'
import { setup, until } from '../../../test/queue-fixture.ts'
import { type Proxy, startProxy } from '../../../test/servers/proxy.ts'

describe('a worker whose server is away', () => {
  let proxy: Proxy
  beforeEach(async () => {
    proxy = await startProxy(inject('redisPort'))
  })
  afterEach(() => proxy.stop())

  test('gets each of its jobs aborted when its lease ends, before another attempt begins', async () => {
    const { queue, name } = await setup({ clock: 'real' })
    const far = await setup({ clock: 'real', port: proxy.port })
    const [events, started]: [string[], string[]] = [[], []]
    const handler = async ({ payload: { to }, signal }: { payload: { to: string }; signal: AbortSignal }) => {
      started.push(to)
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      events.push(`${to} stops`)
    }
    const worker = far.redis.queue<{ mail: { to: string } }>(name).work({ mail: handler }, { lease: '600ms' })
    await queue.enqueue('mail', { to: 'first' })
    await until(() => started.length === 1)
    // The second lease begins between two ticks of the first.
    await new Promise((resolve) => setTimeout(resolve, 100))
    await queue.enqueue('mail', { to: 'second' })
    await until(() => started.length === 2)

    proxy.halfOpen()
    while (events.length < 4) {
      const jobs = await queue.claim({ limit: 2, lease: '10s' })
      events.push(...jobs.map(({ payload }) => `${(payload as { to: string }).to} begins again`))
    }

    for (const to of ['first', 'second']) {
      expect(events.indexOf(`${to} stops`)).toBeLessThan(events.indexOf(`${to} begins again`))
    }
    proxy.resetAll()
    proxy.heal()
    await worker.close({ within: '0ms' })
  })

  test('sends its acks again until the server has them', async () => {
    const { queue, name } = await setup({ clock: 'real' })
    const far = await setup({ clock: 'real', port: proxy.port, deadline: '300ms' })
    const errors: unknown[] = []
    let works = 0
    await using _worker = far.redis.queue<{ mail: { to: string } }>(name).work(
      {
        mail: async () => {
          works += 1
          proxy.halfOpen()
          setTimeout(() => {
            proxy.heal()
            proxy.resetAll()
          }, 1000)
        },
      },
      { lease: '30s', onError: (error) => errors.push(error) },
    )
    await queue.enqueue('mail', { to: 'ada' })

    await until(async () => (await queue.settings.inspect()).acked === 1)

    expect(works).toBe(1)
    expect(String(errors[0])).toMatch(/deadline/)
  })
})

describe('a job of a worker', () => {
  test.each([
    ['shorter', '2s', '300ms'],
    ['longer', '300ms', '1s'],
  ] as const)('that is extended to a %s lease is kept, also beyond that', async (_, lease, extended) => {
    const { queue } = await setup({ clock: 'real' })
    const kept: boolean[] = []
    const keep = async (job: ClaimedJob): Promise<void> => {
      await job.extend(extended)
      for (let times = 0; times < 3 && job.isClaimed; times++) {
        const { expiresAtMs } = job
        await until(() => job.expiresAtMs > expiresAtMs || !job.isClaimed)
      }
      kept.push(job.isClaimed)
    }
    await using _worker = queue.work({ mail: keep }, { lease })
    await queue.enqueue('mail', { to: 'ada' })

    await until(() => kept.length === 1)

    expect(kept).toEqual([true])
  })

  test('whose shortened lease was not confirmed is held only until the earlier end', async () => {
    const proxy = await startProxy(inject('redisPort'))
    onTestFinished(() => proxy.stop())
    const { queue, name } = await setup({ clock: 'real' })
    const far = await setup({ clock: 'real', port: proxy.port, deadline: '300ms' })
    await queue.enqueue('mail', { to: 'ada' })
    const [job] = await far.redis.queue(name).claim({ lease: '1h' })
    proxy.halfOpen()

    const extending = job?.extend('10s')
    expect(job?.remainingMs).toBeLessThanOrEqual(10_000)
    await expect(extending).rejects.toThrow(AmbiguousError)

    expect(job?.remainingMs).toBeLessThanOrEqual(10_000)
    job?.assertHeld()
  })
})

test('a worker that was suspended begins no job whose lease has ended', async () => {
  const { queue } = await setup({ clock: 'real' })
  const remaining: number[] = []
  await queue.enqueueMany(['first', 'second'].map((to) => ({ name: 'mail' as const, payload: { to } })))

  const worker = queue.work(
    {
      mail: (job) => {
        remaining.push(job.remainingMs)
        // Like a long computation, or a paused process.
        const endsAt = performance.now() + 500
        while (remaining.length === 1 && performance.now() < endsAt);
      },
    },
    { concurrency: 1, prefetch: 1, lease: '300ms' },
  )
  await until(async () => (await queue.inspect()).acked === 2)
  await worker.close()

  expect(remaining.every((ms) => ms > 0)).toBe(true)
  expect((await queue.inspect()).reclaimed).toBeGreaterThan(0)
})
