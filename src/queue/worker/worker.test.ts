import { InvalidArgumentError } from 'perilune'
import { describe, expect, test } from 'vitest'
import { setup, until, untilQuiet } from '../../../test/queue-fixture.ts'
import type { ClaimedJob } from '../claims/claimed-job.ts'

const to = 'customer'
const many = (count: number, options: object = {}) =>
  Array.from({ length: count }, (_, at) => ({ name: 'mail' as const, payload: { to: `${at}` }, ...options }))

describe('a worker', () => {
  test('does every job once, within its concurrency', async () => {
    const { queue } = await setup({ clock: 'real' })
    const done: string[] = []
    let [atWork, most] = [0, 0]
    await queue.enqueueMany(many(300))

    await using worker = queue.work(
      {
        mail: async ({ payload }) => {
          most = Math.max(most, ++atWork)
          await new Promise((resolve) => setTimeout(resolve, 1))
          atWork -= 1
          done.push(payload.to)
        },
      },
      { concurrency: 7 },
    )
    await until(() => done.length === 300)

    expect(new Set(done).size).toBe(300)
    expect(most).toBe(7)
    await until(async () => (await queue.settings.inspect()).acked === 300)
    expect(worker.atWork).toBe(0)
  })

  test('sends many acks in two calls, so that the server always has one to run', async () => {
    const { queue, calls } = await setup({ clock: 'real' })
    await queue.enqueueMany(many(640))
    const before = calls.length

    await using _worker = queue.work({ mail: () => undefined }, { concurrency: 64 })
    await until(async () => (await queue.settings.inspect()).acked === 640)

    // With one call each time there would be eleven.
    const exchanges = calls.slice(before).filter((each) => each.startsWith('queue/ack-and-claim'))
    expect(exchanges.length).toBeGreaterThanOrEqual(20)
  })

  test('without jobs does not poll, and is woken up by a job', async () => {
    const { queue, calls } = await setup({ clock: 'real' })
    const done: string[] = []
    await using _worker = queue.work({ mail: (job) => done.push(job.payload.to) })
    await untilQuiet(calls)
    await until(async () => (await queue.settings.inspect()).idle === 1)
    const before = calls.length
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(calls.slice(before)).toEqual([])

    await queue.enqueue('mail', { to })
    await until(() => done.length === 1)

    expect(done).toEqual([to])
  })

  test('a hundred idle workers are not all woken up by one job', async () => {
    const { queue, redis, name } = await setup({ clock: 'real' })
    let claimedBy = 0
    const workers = Array.from({ length: 100 }, () =>
      redis.queue<{ mail: { to: string } }>(name).work({ mail: () => void claimedBy++ }),
    )
    await until(async () => (await queue.settings.inspect()).idle === 100)

    await queue.enqueue('mail', { to })
    await until(() => claimedBy === 1)
    await until(async () => (await queue.settings.inspect()).idle >= 99)

    await Promise.all(workers.map((worker) => worker.close()))
    expect(await queue.settings.inspect()).toMatchObject({ idle: 0, acked: 1 })
  })

  test('runs a delayed job when it is due, even if it is idle', async () => {
    const { queue } = await setup({ clock: 'real' })
    const done: number[] = []
    await using _one = queue.work({ mail: () => done.push(1) })
    await using _two = queue.work({ mail: () => done.push(2) })
    await until(async () => (await queue.settings.inspect()).idle === 2)

    await queue.enqueueMany([
      { name: 'mail', payload: { to }, delay: '400ms' },
      { name: 'mail', payload: { to }, delay: '50ms' },
    ])
    await until(() => done.length === 2)

    expect(done).toHaveLength(2)
  })

  test('retries a job that threw, and reports the thrown value; its result is kept if the queue keeps done jobs', async () => {
    const { queue } = await setup({ clock: 'real' })
    await queue.settings.set({ retention: { count: 10 } })
    const errors: [unknown, string | undefined][] = []
    const backoff = { kind: 'fixed', base: '20ms' } as const
    const { id } = await queue.enqueue('mail', { to }, { backoff })
    await using _worker = queue.work(
      {
        mail: ({ attempt }) => {
          if (attempt === 1) throw new TypeError('no such address')
          return { attempt }
        },
      },
      { onError: (error, job) => errors.push([error, job?.id]) },
    )

    await until(async () => (await queue.jobs.get(id))?.state === 'done')

    expect(await queue.jobs.get(id)).toMatchObject({
      result: { attempt: 2 },
      failure: { kind: 'TypeError' },
    })
    expect(errors).toEqual([[expect.any(TypeError), id]])
  })

  test('a handler may settle its job itself', async () => {
    const { queue } = await setup({ clock: 'real' })
    const [first, second] = await queue.enqueueMany(many(2))
    await using _worker = queue.work(async (job: ClaimedJob) => {
      if (job.id === first?.id) await job.fail({ kind: 'BadAddress' })
      else await job.retry({ delay: '1h' })
    })

    await until(async () => (await queue.settings.inspect()).scheduled === 1)
    await until(async () => (await queue.settings.inspect()).dead === 1)

    expect(await queue.jobs.get(first?.id ?? '')).toMatchObject({ state: 'dead' })
    expect(await queue.jobs.get(second?.id ?? '')).toMatchObject({ state: 'scheduled', attempts: 1 })
  })

  test('that leaves notifies the server in the full call, which passes on its wake-up', async () => {
    const { queue, calls } = await setup({ clock: 'real' })
    await queue.enqueue('mail', { to })
    const worker = queue.work({ mail: () => undefined })
    await until(async () => {
      const { acked, idle } = await queue.inspect()
      return acked === 1 && idle === 1
    })
    expect(calls).not.toContain('queue/ack-and-claim')

    await worker.close()

    expect(calls).toContain('queue/ack-and-claim')
  })

  test('extends its jobs, and aborts the signal of a cancelled job', async () => {
    const { queue } = await setup({ clock: 'real' })
    const { id } = await queue.enqueue('mail', { to })
    let reason: unknown = null
    let attempts = 0
    await using _worker = queue.work(
      {
        mail: async ({ signal }) => {
          attempts += 1
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
          reason = signal.reason
        },
      },
      { lease: '1500ms' },
    )
    await until(() => attempts === 1)
    await new Promise((resolve) => setTimeout(resolve, 1800))
    expect(attempts).toBe(1)
    expect(await queue.jobs.cancel([id])).toEqual(['stopping'])

    await until(() => reason !== null)

    expect(String(reason)).toMatch(/cancelled/)
    await until(async () => (await queue.jobs.get(id)) === null)
  })

  test.each(['returns', 'throws'])(
    'a job that was cancelled at work goes when its handler %s',
    async (how) => {
      const { queue, calls } = await setup({ clock: 'real' })
      const { id } = await queue.enqueue('mail', { to })
      await using worker = queue.work(
        async ({ signal }: ClaimedJob) => {
          await queue.jobs.cancel([id])
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
          if (how === 'throws') signal.throwIfAborted()
        },
        { lease: '1s' },
      )
      await until(async () => calls.includes('queue/release') && (await queue.jobs.get(id)) === null)
      await worker.close()
      expect((await queue.settings.inspect()).claimed).toBe(0)
    },
  )

  test('an attempt that exceeds its `maxRun` has failed, and its signal aborts', async () => {
    const { queue } = await setup({ clock: 'real' })
    const { id } = await queue.enqueue('mail', { to }, { maxRun: '30ms', maxAttempts: 1 })
    let aborted = false
    await using _worker = queue.work(async ({ signal }: ClaimedJob) => {
      signal.addEventListener('abort', () => (aborted = true))
      await new Promise((resolve) => setTimeout(resolve, 2000).unref())
    })

    await until(async () => (await queue.jobs.get(id))?.state === 'dead')

    expect(aborted).toBe(true)
    expect(await queue.dead.list()).toMatchObject([{ kind: 'MaxRunError' }])
  })

  test('that is closed finishes its jobs, and releases those that take too long', async () => {
    const { queue } = await setup({ clock: 'real' })
    await queue.enqueueMany(many(6))
    let [finished, aborted, started] = [0, 0, 0]
    const worker = queue.work(
      {
        mail: async ({ payload, signal }) => {
          started += 1
          signal.addEventListener('abort', () => (aborted += 1))
          await new Promise((resolve) => setTimeout(resolve, payload.to === '0' ? 60_000 : 50).unref())
          finished += 1
        },
      },
      { concurrency: 3, prefetch: 2 },
    )
    await until(() => started === 3)

    await worker.close({ within: '300ms' })

    expect([finished, aborted]).toEqual([2, 1])
    expect(await queue.settings.inspect()).toMatchObject({ claimed: 0, acked: 2, ready: 4, idle: 0 })
    expect((await queue.claim({ limit: 4 })).map(({ attempt }) => attempt)).toEqual([1, 1, 1, 1])
  })

  test('whose signal aborts closes as by hand: its jobs are finished, and no others begin', async () => {
    const { queue } = await setup({ clock: 'real' })
    await queue.enqueueMany(many(3))
    const shutdown = new AbortController()
    let [finished, aborted, started] = [0, 0, 0]
    const worker = queue.work(
      {
        mail: async ({ signal }) => {
          started += 1
          signal.addEventListener('abort', () => (aborted += 1))
          await new Promise((resolve) => setTimeout(resolve, 50))
          finished += 1
        },
      },
      { concurrency: 1, signal: shutdown.signal },
    )
    await until(() => started === 1)

    shutdown.abort()
    await until(async () => (await queue.inspect()).acked === 1)
    await worker.close()

    expect([started, finished, aborted]).toEqual([1, 1, 0])
    expect(await queue.inspect()).toMatchObject({ claimed: 0, ready: 2, idle: 0 })
  })

  test('whose signal has aborted before claims nothing', async () => {
    const { queue } = await setup({ clock: 'real' })
    const { id } = await queue.enqueue('mail', { to })
    let started = 0

    const worker = queue.work({ mail: () => void started++ }, { signal: AbortSignal.abort() })
    await new Promise((resolve) => setTimeout(resolve, 100))
    await worker.close()

    expect(started).toBe(0)
    expect(await queue.jobs.get(id)).toMatchObject({ state: 'ready', attempts: 0 })
  })

  test('that cannot be constructed has begun nothing', async () => {
    const { queue, redis, calls } = await setup({ clock: 'real' })
    const { id } = await queue.enqueue('mail', { to })
    let started = 0
    const refuse = (): never => {
      throw new RangeError('no listeners')
    }
    const { signal } = new AbortController()
    Object.defineProperty(signal, 'addEventListener', { value: refuse })

    expect(() => queue.work({ mail: () => void started++ }, { signal })).toThrow('no listeners')
    await new Promise((resolve) => setTimeout(resolve, 100))

    expect(started).toBe(0)
    expect(await queue.jobs.get(id)).toMatchObject({ state: 'ready', attempts: 0 })
    await redis.close()
    expect(calls).not.toContain('queue/ack-and-claim')
  })

  test('is closed by the call with the shortest wait', async () => {
    const { queue } = await setup({ clock: 'real' })
    await queue.enqueue('mail', { to })
    const shutdown = new AbortController()
    let [started, aborted] = [0, 0]
    const handler = (job: ClaimedJob): Promise<never> => {
      started += 1
      job.signal.addEventListener('abort', () => (aborted += 1))
      return new Promise<never>(() => undefined)
    }
    const worker = queue.work(handler, { signal: shutdown.signal })
    await until(() => started === 1)

    shutdown.abort()
    const patient = worker.close({ within: '1h' })
    await worker.close({ within: '10ms' })
    await patient

    expect(aborted).toBe(1)
    expect(await queue.inspect()).toMatchObject({ claimed: 0, ready: 1, idle: 0 })
  })

  test('ends with its instance: jobs that end soon are acked, and the rest are released', async () => {
    const { queue, redis, name } = await setup({ clock: 'real' })
    const { redis: other } = await setup({ clock: 'real' })
    await queue.enqueueMany(many(5))
    let [started, aborted] = [0, 0]
    const errors: unknown[] = []
    queue.work(
      {
        mail: async ({ payload, signal }) => {
          started += 1
          signal.addEventListener('abort', () => (aborted += 1))
          await new Promise((resolve) => setTimeout(resolve, payload.to === '0' ? 60_000 : 100).unref())
        },
      },
      { concurrency: 3, prefetch: 1, onError: (error) => errors.push(error) },
    )
    await until(() => started === 3)

    await redis.close()

    expect([started, aborted]).toEqual([3, 1])
    expect(errors).toEqual([])
    const left = other.queue(name)
    expect(await left.inspect()).toMatchObject({ claimed: 0, acked: 2, ready: 3, idle: 0 })
    expect((await left.claim({ limit: 5 })).map(({ attempt }) => attempt)).toEqual([1, 1, 1])
  })

  test('of a closed instance sends no calls, and reports that', async () => {
    const { queue, redis, calls } = await setup({ clock: 'real' })
    await redis.close()
    const before = calls.length
    const errors: unknown[] = []

    const worker = queue.work({ mail: () => undefined }, { onError: (error) => errors.push(error) })
    await until(() => errors.length > 0)
    await worker.close()

    expect(calls.slice(before)).toEqual([])
    expect(errors).toEqual(errors.map(() => expect.objectContaining({ code: 'closed' })))
    expect(errors.length).toBeLessThan(5)
  })

  test('a job without a handler is released with a delay, which costs no attempt', async () => {
    const { queue } = await setup({ clock: 'real' })
    const { id } = await queue.enqueue('image', { url: 'u' })
    const errors: string[] = []
    const onError = (error: unknown): void => void errors.push(String(error))
    const worker = queue.work({ mail: () => undefined }, { onError })

    await until(async () => (await queue.jobs.get(id))?.state === 'scheduled')
    expect(errors).toEqual(["Error: no handler for 'image'"])
    await worker.close()

    expect(await queue.jobs.get(id)).toMatchObject({ attempts: 0, failure: null })
    const done: string[] = []
    await using _newer = queue.work({ image: ({ payload }) => done.push(payload.url) })
    await queue.jobs.requeue([id])
    await until(() => done.length === 1)
  })

  test('invalid options are named in the error', async () => {
    const { queue } = await setup()
    expect(() => queue.work('x' as never)).toThrow(InvalidArgumentError)
    expect(() => queue.work([] as never)).toThrow(/handlers/)
    expect(() => queue.work({}, { backoff: [] as never })).toThrow(/backoff/)
    expect(() => queue.work({}, { concurrency: 0 })).toThrow(/concurrency/)
    expect(() => queue.work({}, { lease: 'long' as never })).toThrow(/lease/)
  })
})
