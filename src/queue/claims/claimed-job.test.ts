import { type ClaimedJob, InvalidArgumentError, LeaseLostError, MaxRunError, PeriluneError } from 'perilune'
import { describe, expect, test } from 'vitest'
import { setup, until } from '../../../test/queue-fixture.ts'

const to = 'customer'

describe('a claimed job', () => {
  test('reports when its lease ends by the clock of the server, also after an extension', async () => {
    const { queue, clock } = await setup()
    const { id } = await queue.enqueue('mail', { to })
    const [job] = await queue.claim({ lease: '1m' })
    const claimedAtMs = (await queue.jobs.get(id))?.atMs ?? 0
    expect(job?.expiresAtMs).toBe(claimedAtMs + 60_000)

    await clock.advance(1000)
    await job?.extend('2m')

    expect(job?.expiresAtMs).toBe(claimedAtMs + 121_000)
  })

  test('is extended by the lease it was claimed for, unless another one is given', async () => {
    const { queue, clock } = await setup()
    await queue.enqueueMany([
      { name: 'mail', payload: { to } },
      { name: 'mail', payload: { to }, priority: -1 },
    ])
    for (const lease of ['1m', undefined] as const) {
      const [job] = await queue.claim(lease === undefined ? {} : { lease })
      const claimedUntilMs = job?.expiresAtMs ?? 0
      await clock.advance(5000)

      await job?.extend()

      expect(job?.expiresAtMs).toBe(claimedUntilMs + 5000)
    }
  })

  test('of a worker is extended by the lease of the worker', async () => {
    const { queue } = await setup({ clock: 'real' })
    const extended: boolean[] = []
    await using _worker = queue.work(
      {
        mail: async (job) => {
          await job.extend('1m')
          await job.extend()
          extended.push(job.remainingMs > 60_000)
        },
      },
      { lease: '1h' },
    )
    await until(async () => (await queue.inspect()).idle === 1)

    // By letter, and by an answer.
    await queue.enqueue('mail', { to })
    await until(() => extended.length === 1)
    await queue.enqueue('mail', { to }, { priority: 1 })
    await until(() => extended.length === 2)

    expect(extended).toEqual([true, true])
  })

  test('that was acked is not reported as expired', async () => {
    const { queue } = await setup()
    await queue.enqueue('mail', { to })
    const [job] = await queue.claim()
    await job?.ack()

    await expect(job?.extend()).rejects.toThrow(/^the lease on job '.*' \(acked\) \(token \d+\) is over$/)
  })

  test('may be acked again, at once and later, and with others', async () => {
    const { queue } = await setup()
    await queue.settings.set({ retention: { count: 5 } })
    await queue.enqueueMany([
      { name: 'mail', payload: { to } },
      { name: 'mail', payload: { to } },
    ])
    const [first, second] = await queue.claim({ limit: 2 })

    await Promise.all([first?.ack('sent'), first?.ack('sent twice')])
    await first?.ack()
    await queue.claim({ acks: second === undefined ? [] : [second] })
    await second?.ack()

    expect(await queue.inspect()).toMatchObject({ acked: 2, done: 2 })
    expect((await queue.jobs.get(first?.id ?? ''))?.result).toBe('sent')
    await expect(first?.retry()).rejects.toThrow(LeaseLostError)
  })

  test('that was lost cannot be acked, even with several tries', async () => {
    const { queue, clock } = await setup()
    await queue.enqueue('mail', { to })
    const [job] = await queue.claim({ lease: '1s' })
    await clock.advance(1001)
    await queue.claim()

    await expect(job?.ack()).rejects.toThrow(LeaseLostError)
    await expect(job?.ack()).rejects.toThrow(LeaseLostError)
  })

  test('is released at the end of its block, unless it was settled', async () => {
    const { queue } = await setup()
    await queue.enqueue('mail', { to })
    {
      await using job = (await queue.claim())[0] as AsyncDisposable & { attempt: number }
      expect(job.attempt).toBe(1)
    }
    expect(await queue.inspect()).toMatchObject({ ready: 1, claimed: 0 })

    for (const job of await queue.claim()) {
      await using held = job
      await held.ack()
    }

    expect(await queue.inspect()).toMatchObject({ ready: 0, acked: 1 })
  })

  test.each([
    ['acked', (job: ClaimedJob) => job.ack()],
    ['retried', (job: ClaimedJob) => job.retry()],
    ['dead', (job: ClaimedJob) => job.fail()],
    ['released', (job: ClaimedJob) => job.release()],
  ])('that is %s reports this when it is extended', async (outcome, settle) => {
    const { queue } = await setup()
    await queue.enqueue('mail', { to })
    const [job] = await queue.claim()
    await settle(job as ClaimedJob)

    await expect(job?.extend('1m')).rejects.toThrow(`(${outcome})`)
    await expect(job?.fail()).rejects.toThrow(LeaseLostError)
  })

  test('an ack whose result the codec rejects can be repeated', async () => {
    const { queue } = await setup()
    await queue.enqueue('mail', { to })
    const [job] = await queue.claim()

    await expect(job?.ack(() => undefined)).rejects.toThrow(InvalidArgumentError)
    await job?.ack('done')

    expect(job?.outcome).toBe('acked')
  })

  test('that was lost throws at the end of its block, as other leases do', async () => {
    const { queue, clock } = await setup()
    await queue.enqueue('mail', { to })
    const block = async (): Promise<void> => {
      for (const job of await queue.claim({ lease: '1s' })) {
        await using _held = job
        await clock.advance(1001)
        await queue.claim()
      }
    }

    await expect(block()).rejects.toThrow(LeaseLostError)
  })

  test('is released with a delay, which costs no attempt', async () => {
    const { queue, clock } = await setup()
    const { id } = await queue.enqueue('mail', { to })
    const [job] = await queue.claim()

    await job?.release({ delay: '5s' })

    expect(await queue.jobs.get(id)).toMatchObject({ state: 'scheduled', attempts: 0, failure: null })
    expect(await queue.claim()).toEqual([])
    await clock.advance(5000)
    expect(await queue.claim()).toMatchObject([{ id, attempt: 1 }])
    expect(() => job?.release({ delay: 'soon' as never })).toThrow(/delay/)
  })

  test('whose attempt takes too long fails with MaxRunError', async () => {
    const { queue } = await setup({ clock: 'real' })
    await queue.enqueue('mail', { to }, { maxRun: '10ms', maxAttempts: 1 })
    const errors: unknown[] = []
    await using _worker = queue.work(() => new Promise((resolve) => setTimeout(resolve, 100)), {
      onError: (error) => errors.push(error),
    })

    await until(() => errors.length === 1)

    expect(errors).toEqual([expect.any(MaxRunError)])
    expect(errors).toEqual([expect.any(PeriluneError)])
    expect(errors).toMatchObject([{ code: 'max-run' }])
  })

  test('may run for as long as `maxRun`, also for longer than a timer of Node can last', async () => {
    const { queue } = await setup({ clock: 'real' })
    await queue.enqueue('mail', { to }, { maxRun: '30d', maxAttempts: 1 })
    const errors: unknown[] = []
    const handler = () => new Promise((resolve) => setTimeout(resolve, 20))

    await using _worker = queue.work({ mail: handler }, { onError: (error) => errors.push(error) })
    await until(async () => {
      const { acked, dead } = await queue.settings.inspect()
      return acked + dead === 1
    })

    expect(errors).toEqual([])
    expect((await queue.settings.inspect()).acked).toBe(1)
  })
})

describe('the signal of a job that was claimed by hand', () => {
  const claimOne = async (lease: '50ms' | '1m') => {
    const { queue } = await setup({ clock: 'real' })
    await queue.enqueue('mail', { to })
    const [job] = await queue.claim({ lease })
    return { job: job as ClaimedJob<{ to: string }>, queue }
  }
  const rest = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

  test('aborts when the lease ends, also when it is read after that', async () => {
    const { job } = await claimOne('50ms')
    const { signal } = job
    await until(() => signal.aborted)
    expect(job.remainingMs).toBe(0)
    expect(signal.reason).toBeInstanceOf(LeaseLostError)
    expect(signal.reason.token).toBe(job.token)

    const { job: late } = await claimOne('50ms')
    await until(() => late.remainingMs === 0)
    expect(late.signal.aborted).toBe(true)
  })

  test('follows extensions, to a later end and to an earlier one', async () => {
    const { job } = await claimOne('50ms')
    const { signal } = job
    await job.extend('1m')
    await rest(100)
    expect(signal.aborted).toBe(false)

    await job.extend('50ms')
    await until(() => signal.aborted)
    expect(job.remainingMs).toBe(0)
  })

  test.each(['ack', 'retry', 'fail', 'release'] as const)(
    'aborts when %s reports that the job was cancelled',
    async (end) => {
      const { queue, job } = await claimOne('1m')
      const { signal } = job
      await queue.jobs.cancel([job.id])

      await expect(job[end]()).rejects.toThrow(LeaseLostError)

      expect(signal.reason).toBeInstanceOf(LeaseLostError)
    },
  )

  test.each(['ack', 'retry', 'fail', 'release'] as const)('does not abort after %s', async (end) => {
    const { job } = await claimOne('50ms')
    const { signal } = job
    await job[end]()
    await rest(100)
    expect(signal.aborted).toBe(false)
  })

  test('does not abort when it is read after an ack', async () => {
    const { job } = await claimOne('50ms')
    await job.ack()
    await rest(100)
    expect(job.signal.aborted).toBe(false)
  })

  test('changes nothing for an ack: the server decides', async () => {
    const { job, queue } = await claimOne('50ms')
    await until(() => job.signal.aborted)
    await job.ack()
    expect((await queue.settings.inspect()).acked).toBe(1)
  })
})
