import { batch, InvalidArgumentError } from 'perilune'
import { describe, expect, expectTypeOf, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { setup, until } from '../../../test/queue-fixture.ts'
import type { ClaimedJob } from '../claims/claimed-job.ts'

const mails = (count: number, options: object = {}) =>
  Array.from({ length: count }, (_, at) => ({ name: 'mail' as const, payload: { to: `${at}` }, ...options }))

const later = { maxAttempts: 3, backoff: { kind: 'fixed', base: '1h' } } as const

describe('a batch', () => {
  test('begins when it is full, and every job is done once', async () => {
    const { queue } = await setup({ clock: 'real' })
    const calls: string[][] = []
    await queue.enqueueMany(mails(60))
    const handler = batch<{ to: string }>({ size: 20, within: '1h' }, async (jobs) => {
      calls.push(jobs.map(({ payload }) => payload.to))
    })
    await using _worker = queue.work({ mail: handler }, { concurrency: 100 })

    await until(async () => (await queue.settings.inspect()).acked === 60)

    expect(calls.map(({ length }) => length)).toEqual([20, 20, 20])
    expect(new Set(calls.flat()).size).toBe(60)
  })

  test('begins when its time is over, even if it is not full', async () => {
    const { queue } = await setup({ clock: 'real' })
    const calls: number[] = []
    await queue.enqueueMany(mails(3))
    await using _worker = queue.work({
      mail: batch({ size: 5, within: '30ms' }, (jobs) => void calls.push(jobs.length)),
    })

    await until(async () => (await queue.settings.inspect()).acked === 3)

    expect(calls).toEqual([3])
  })

  test('has jobs of one name, though another name has the same handler', async () => {
    const { queue } = await setup({ clock: 'real' })
    const calls: string[] = []
    const image = { name: 'image', payload: { url: 'a' } } as const
    await queue.enqueueMany([...mails(1), image, ...mails(1), image])
    const handler = batch<unknown>({ size: 2, within: '1h' }, (jobs) => {
      calls.push(jobs.map(({ name }) => name).join())
    })
    await using _worker = queue.work({ mail: handler, image: handler })

    await until(async () => (await queue.settings.inspect()).acked === 4)

    expect(calls.toSorted()).toEqual(['image,image', 'mail,mail'])
  })

  test('begins when its worker has no room for more jobs', async () => {
    const { queue } = await setup({ clock: 'real' })
    const calls: number[] = []
    await queue.enqueueMany(mails(7))
    const handler = batch<unknown>({ size: 20, within: '1h' }, (jobs) => void calls.push(jobs.length))
    const worker = queue.work({ mail: handler }, { concurrency: 3 })

    await until(async () => (await queue.settings.inspect()).acked === 6)

    await worker.close()
    expect(calls).toEqual([3, 3])
    expect(await queue.settings.inspect()).toMatchObject({ claimed: 0, ready: 1 })
  })

  test('gives each job its own result, and retries those whose result is an error', async () => {
    const { queue } = await setup({ clock: 'real' })
    await queue.settings.set({ retention: { count: 10 } })
    const enqueued = await queue.enqueueMany(mails(3, later))
    const ids = enqueued.map(({ id }) => id)
    const errors: [unknown, string | undefined][] = []
    await using _worker = queue.work(
      {
        mail: batch({ size: 3 }, async (jobs) => {
          expectTypeOf(jobs[0]?.payload).toEqualTypeOf<{ to: string } | undefined>()
          return jobs.map(({ payload }) => (payload.to === '1' ? new RangeError('no') : { to: payload.to }))
        }),
      },
      { onError: (error, job) => errors.push([error, job?.id]) },
    )

    await until(async () => (await queue.settings.inspect()).acked === 2)
    await until(async () => (await queue.settings.inspect()).scheduled === 1)

    const [first, second, third] = await queue.jobs.getMany(ids)
    expect([first?.result, third?.result]).toEqual([{ to: '0' }, { to: '2' }])
    expect(second).toMatchObject({ state: 'scheduled', failure: { kind: 'RangeError' } })
    expect(errors).toEqual([[expect.any(RangeError), ids[1]]])
  })

  test('retries a job whose result is a rejected promise', async () => {
    const { queue } = await setup({ clock: 'real' })
    await queue.enqueueMany(mails(2, later))
    await using _worker = queue.work({
      mail: batch({ size: 2 }, (jobs) =>
        jobs.map(async ({ payload }) => (payload.to === '1' ? new RangeError('no') : null)),
      ),
    })

    await until(async () => (await queue.settings.inspect()).scheduled === 1)

    expect(await queue.settings.inspect()).toMatchObject({ acked: 1, scheduled: 1 })
  })

  test('that throws retries the jobs that it has not settled itself', async () => {
    const { queue } = await setup({ clock: 'real' })
    const enqueued = await queue.enqueueMany(mails(4, later))
    await using _worker = queue.work({
      mail: batch({ size: 4 }, async ([first, second]) => {
        await first?.ack()
        await second?.fail()
        throw new TypeError('broken')
      }),
    })

    await until(async () => (await queue.settings.inspect()).scheduled === 2)

    expect(await queue.settings.inspect()).toMatchObject({ acked: 1, dead: 1, claimed: 0 })
    expect(await queue.jobs.getMany(enqueued.map(({ id }) => id))).toMatchObject([
      { state: 'dead' },
      { state: 'scheduled', failure: { kind: 'TypeError' } },
      { state: 'scheduled', failure: { kind: 'TypeError' } },
    ])
  })

  test('that returns another number of results is retried', async () => {
    const { queue } = await setup({ clock: 'real' })
    await queue.enqueueMany(mails(2, later))
    await using _worker = queue.work({ mail: batch({ size: 2 }, () => [1]) })

    await until(async () => (await queue.settings.inspect()).scheduled === 2)

    const { jobs } = await queue.jobs.list('scheduled')
    expect(jobs[0]?.failure?.message).toMatch(/batch of 2 jobs must return 2 results/)
  })

  test('that returns another number of promises does not end the process, even if one of them rejects', async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown): void => void unhandled.push(reason)
    process.on('unhandledRejection', note)
    onTestFinished(() => void process.off('unhandledRejection', note))
    const { queue } = await setup({ clock: 'real' })
    await queue.enqueueMany(mails(2, later))
    await using _worker = queue.work({
      mail: batch({ size: 2 }, () => [Promise.reject(new RangeError('no'))]),
    })

    await until(async () => (await queue.settings.inspect()).scheduled === 2)

    expect(unhandled).toEqual([])
  })

  test('leaves out jobs that were lost before it began, and those that do not fit', async () => {
    const { queue: plain, redis, name } = await setup({ clock: 'real' })
    const queue = redis.queue(name, { schemas: { mail: z.object({ to: z.string() }) } })
    const calls: string[][] = []
    const handler = batch<{ to: string }>({ size: 3, within: '1h' }, (jobs) => {
      calls.push(jobs.map(({ payload }) => payload.to))
    })
    await using _worker = queue.work({ mail: handler }, { lease: '1200ms' })
    const [gone] = await plain.enqueueMany(mails(2))
    await until(async () => (await queue.settings.inspect()).claimed === 2)
    await queue.jobs.cancel([gone?.id ?? ''])
    await new Promise((resolve) => setTimeout(resolve, 1300))

    await plain.enqueueMany([
      { name: 'mail', payload: { to: 7 as never } },
      { name: 'mail', payload: { to: 'last' } },
    ])
    await until(async () => (await queue.settings.inspect()).acked === 2)

    expect(calls).toEqual([['1', 'last']])
    await until(async () => (await queue.settings.inspect()).dead === 1)
  })

  test.each([0, 1])(
    'has none that was lost while a schema looked at it, where %i of two are left',
    async (left) => {
      const { queue: plain, redis, name } = await setup({ clock: 'real' })
      let looking = 0
      let look: () => void = () => undefined
      const looked = new Promise<void>((resolve) => (look = resolve))
      const validate = async (value: unknown) => {
        looking += 1
        await looked
        return { value }
      }
      const slow = { '~standard': { version: 1, vendor: 'test', validate } } as const
      const queue = redis.queue(name, { schemas: { mail: slow } })
      const calls: unknown[][] = []
      const errors: unknown[] = []
      const handler = batch({ size: 2, within: '100ms' }, (jobs, { signal }) => {
        calls.push([...jobs.map(({ isClaimed }) => isClaimed), signal.aborted])
      })
      await using _worker = queue.work(
        { mail: handler },
        {
          lease: '1s',
          onError: (error) => errors.push(error),
        },
      )
      const enqueued = await plain.enqueueMany(mails(2))
      await until(() => looking === 2)
      await plain.jobs.cancel(enqueued.slice(left).map(({ id }) => id))
      await until(async () =>
        (await plain.jobs.list('claimed')).jobs.every(({ state }) => state !== 'stopping'),
      )
      await new Promise((resolve) => setTimeout(resolve, 1100))
      look()
      await plain.enqueueMany(mails(left === 0 ? 2 : 0))
      await until(() => calls.length === 1)

      expect(calls).toEqual([left === 0 ? [true, true, false] : [true, false]])
      expect(errors).toEqual([])
    },
  )

  test('that has not begun is released when its worker is closed', async () => {
    const { queue } = await setup({ clock: 'real' })
    await queue.enqueueMany(mails(2))
    let calls = 0
    const worker = queue.work({ mail: batch({ size: 5, within: '1h' }, () => calls++) })
    await until(() => worker.atWork === 2)

    await worker.close()

    expect(calls).toBe(0)
    expect((await queue.claim({ limit: 2 })).map(({ attempt }) => attempt)).toEqual([1, 1])
  })

  test('has its signal aborted when none of its jobs is left', async () => {
    const { queue } = await setup({ clock: 'real' })
    await queue.enqueueMany(mails(3))
    let reason: unknown = null
    let begun = false
    const handler = batch<unknown>({ size: 3 }, async ([first], { signal }) => {
      await first?.ack()
      begun = true
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      reason = signal.reason
    })
    const worker = queue.work({ mail: handler })
    await until(() => begun)

    await worker.close({ within: '0ms' })
    await until(() => reason !== null)

    expect(String(reason)).toMatch(/closed/)
    expect(await queue.settings.inspect()).toMatchObject({ acked: 1, ready: 2 })
  })

  test.each<
    [string, (jobs: readonly ClaimedJob[], cancel: (id: string) => Promise<unknown>) => Promise<void>]
  >([
    ['all are acked by hand', async (jobs) => void (await Promise.all(jobs.map((job) => job.ack())))],
    [
      'one is lost, and then the other acked',
      async ([first, second], cancel) => {
        await cancel(first?.id ?? '')
        await first?.extend().catch(() => undefined)
        await second?.ack()
      },
    ],
    [
      'one is acked, and then the other lost',
      async ([first, second], cancel) => {
        await first?.ack()
        await cancel(second?.id ?? '')
        await second?.extend().catch(() => undefined)
      },
    ],
  ])('has its signal aborted when %s', async (_, settle) => {
    const { queue } = await setup({ clock: 'real' })
    await queue.enqueueMany(mails(2))
    let seen: [before: boolean, after: boolean] | null = null
    const handler = batch<unknown>({ size: 2 }, async (jobs, { signal }) => {
      const before = signal.aborted
      await settle(jobs, (id) => queue.jobs.cancel([id]))
      seen = [before, signal.aborted]
    })
    await using _worker = queue.work({ mail: handler })

    await until(() => seen !== null)

    expect(seen).toEqual([false, true])
  })

  test('does not abort its signal for outcomes of its jobs after the handler is over', async () => {
    const { queue } = await setup({ clock: 'real' })
    await queue.enqueueMany(mails(4))
    const signals: AbortSignal[] = []
    const handler = batch<unknown>({ size: 2 }, (jobs, { signal }) => {
      signals.push(signal)
      if (signals.length === 1) for (const job of jobs) void job.ack()
    })
    await using _worker = queue.work({ mail: handler })

    await until(async () => (await queue.inspect()).acked === 4)
    await new Promise((resolve) => setTimeout(resolve, 20))

    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false])
  })

  test('invalid options are named in the error', () => {
    expect(() => batch({ size: 0 }, () => [])).toThrow(InvalidArgumentError)
    expect(() => batch({ size: 5, within: 'soon' as never }, () => [])).toThrow(/within/)
    expect(() => batch({ size: 5 }, null as never)).toThrow(/handler/)
  })
})
