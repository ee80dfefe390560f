// Asynchronous user code that never answers for one job: other jobs are not affected.

import { batch, type Queue, type Schema } from 'perilune'
import { describe, expect, test } from 'vitest'
import { setup, until } from '../../../test/queue-fixture.ts'

interface Payloads {
  step: { n: number }
}

const never = (): Promise<never> => new Promise(() => undefined)
const ONCE = { name: 'step', maxAttempts: 1 } as const

/** It never answers for the payload 0. */
const step: Schema<{ n: number }, { n: number }> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) => ((value as { n: number }).n === 0 ? never() : { value: value as { n: number } }),
  },
}

async function prepare(partitions?: number) {
  const { redis, name } = await setup({ clock: 'real', deadline: '1s' })
  const open = (options: { schemas?: { step: typeof step } } = {}): Queue<Payloads> => {
    if (partitions === undefined) return redis.queue<Payloads>(name, options)
    // Both kinds of queue have the methods that are called here.
    return redis.queue<Payloads>(name, { partitions, ...options }) as unknown as Queue<Payloads>
  }
  return { redis, name, plain: open(), queue: open({ schemas: { step } }) }
}

const numbers = (jobs: readonly { payload: { n: number } }[]): number[] =>
  jobs.map(({ payload }) => payload.n)

async function failures(queue: Queue<Payloads>): Promise<[string, number][]> {
  return (await queue.dead.list()).map(({ kind, count }) => [kind, count])
}

describe('a schema that never answers', () => {
  test.each([undefined, 2])(
    'keeps no other job from a claim by hand, in %s partitions',
    async (partitions) => {
      const { plain, queue } = await prepare(partitions)
      await plain.enqueueMany([0, 1, 2].map((n) => ({ ...ONCE, group: 'all', payload: { n } })))

      expect(numbers(await queue.claim({ limit: 10, lease: '4s' }))).toEqual([1, 2])
      expect(await failures(plain)).toEqual([['schema-failed', 1]])
      const [dead] = (await plain.jobs.list('dead')).jobs
      expect(dead?.failure?.message).toBe('payload could not be checked: its schema has not answered in time')
    },
  )

  test('does not delay other jobs of a detached claim, and takes at most half of a lease', async () => {
    const { plain, queue } = await prepare()
    await plain.enqueueMany([0, 1].map((n) => ({ ...ONCE, payload: { n } })))

    const { jobs } = await queue.claimDetached({ limit: 10, lease: '600ms' })

    expect(numbers(jobs)).toEqual([1])
    const [job] = jobs
    expect(await queue.byToken.ack([{ id: job?.id ?? '', token: job?.token ?? 0 }])).toEqual([
      { outcome: 'acked' },
    ])
  })

  test.each([undefined, 2])(
    'lets a claim in %s partitions end with its signal: all is given back',
    async (partitions) => {
      const { plain, queue } = await prepare(partitions)
      await plain.enqueueMany([0, 1].map((n) => ({ ...ONCE, group: 'all', payload: { n } })))
      const gone = new AbortController()
      const claiming = queue.claim({ limit: 10, lease: '1h', signal: gone.signal })
      await until(async () => (await plain.inspect()).claimed === 2)

      gone.abort(new Error('gone'))

      await expect(claiming).rejects.toThrow('gone')
      await until(async () => (await plain.inspect()).ready === 2)
    },
  )

  test.each([undefined, 2])(
    'holds up no claim in %s partitions for ever, though its job comes again and again',
    async (partitions) => {
      const { plain, queue } = await prepare(partitions)
      await plain.enqueue('step', { n: 0 }, { maxAttempts: 1000, backoff: 'none' })

      expect(await queue.claim({ wait: '100ms' })).toEqual([])
      expect((await queue.claimDetached()).jobs).toEqual([])
    },
  )

  test('lets the instance close: the claimed jobs are released', async () => {
    const { redis, name, plain, queue } = await prepare()
    await plain.enqueueMany([0, 1].map((n) => ({ ...ONCE, payload: { n } })))
    const other = (await setup({ clock: 'real' })).redis.queue(name)
    const claiming = queue.claim({ limit: 10, lease: '1h' })
    claiming.catch(() => undefined)
    await until(async () => (await other.inspect()).claimed === 2)

    await redis.close()

    await expect(claiming).rejects.toMatchObject({ code: 'closed' })
    expect(await other.inspect()).toMatchObject({ ready: 2, claimed: 0 })
  })

  test('does not use up concurrency of a worker forever', async () => {
    const { plain, queue } = await prepare()
    await plain.enqueueMany([0, 1, 2].map((n) => ({ ...ONCE, payload: { n } })))
    const done: number[] = []
    await using _worker = queue.work({ step: ({ payload }) => done.push(payload.n) }, { concurrency: 1 })

    await until(() => done.length === 2)
    expect(await failures(plain)).toEqual([['schema-failed', 1]])
  })

  test('keeps no batch waiting', async () => {
    const { plain, queue } = await prepare()
    const done: number[][] = []
    const steps = batch<{ n: number }>({ size: 10, within: '20ms' }, (jobs) => void done.push(numbers(jobs)))
    await using worker = queue.work({ step: steps })
    await plain.enqueueMany([0, 1, 2].map((n) => ({ ...ONCE, maxRun: '500ms', payload: { n } })))

    await until(() => done.length === 1)
    expect(done).toEqual([[1, 2]])
    expect(worker.atWork).toBe(1)
    await until(async () => (await failures(plain)).length === 1)
    expect(await failures(plain)).toEqual([['schema-failed', 1]])
  })

  test('lets an enqueue fail, which sends nothing', async () => {
    const { plain, queue } = await prepare()

    await expect(queue.enqueue('step', { n: 0 })).rejects.toThrow(
      'payload could not be checked: its schema has not answered in time',
    )
    expect(await plain.inspect()).toMatchObject({ enqueued: 0 })
  })
})

test('asynchronous schemas do not make batches smaller', async () => {
  const { redis, name, plain } = await prepare()
  const later: typeof step = {
    '~standard': {
      ...step['~standard'],
      validate: async (value) => {
        await new Promise((resolve) => setTimeout(resolve, (value as { n: number }).n * 5))
        return { value: value as { n: number } }
      },
    },
  }
  await plain.enqueueMany([1, 2, 3, 4].map((n) => ({ ...ONCE, payload: { n } })))
  const done: number[][] = []
  const steps = batch<{ n: number }>({ size: 4, within: '1h' }, (jobs) => void done.push(numbers(jobs)))
  await using _worker = redis
    .queue(name, { schemas: { step: later } })
    .work({ step: steps }, { concurrency: 4 })

  await until(() => done.length === 1)
  expect(done).toEqual([[1, 2, 3, 4]])
})

describe('an `around` hook that never ends', () => {
  test('fails the attempt when the job has a `maxRun`', async () => {
    const { redis, name, plain } = await prepare()
    const around = async (_: unknown, run: () => Promise<unknown>): Promise<unknown> => run().then(never)
    await plain.enqueue('step', { n: 1 }, { maxRun: '50ms', maxAttempts: 1 })
    await using _worker = redis.queue(name, { hooks: { around } }).work(() => undefined)

    await until(async () => (await failures(plain)).length === 1)
    expect(await failures(plain)).toEqual([['MaxRunError', 1]])
  })

  test('may still replace the failure of an attempt that took too long', async () => {
    const { redis, name, plain } = await prepare()
    const around = async (_: unknown, run: () => Promise<unknown>): Promise<unknown> =>
      run().catch(async () => {
        await new Promise((resolve) => setTimeout(resolve, 50))
        throw new RangeError('said by the hook')
      })
    await plain.enqueue('step', { n: 1 }, { maxRun: '20ms', maxAttempts: 1 })
    await using _worker = redis.queue(name, { hooks: { around } }).work(never)

    await until(async () => (await failures(plain)).length === 1)
    expect(await failures(plain)).toEqual([['RangeError', 1]])
  })

  test('delays the others of its batch for a while, and then runs by itself', async () => {
    const { redis, name, plain } = await prepare()
    let go: (value: unknown) => void = () => undefined
    const gone = new Promise((resolve) => (go = resolve))
    const around = async (job: { payload: unknown }, run: () => Promise<unknown>): Promise<unknown> =>
      (job.payload as { n: number }).n === 0 ? gone.then(run) : run()
    await plain.enqueueMany([0, 1, 2].map((n) => ({ ...ONCE, payload: { n } })))
    const done: number[][] = []
    const steps = batch<{ n: number }>({ size: 3 }, (jobs) => void done.push(numbers(jobs)))
    await using _worker = redis.queue<Payloads>(name, { hooks: { around } }).work({ step: steps })

    await until(() => done.length === 1)
    expect(done).toEqual([[1, 2]])
    go(null)
    await until(() => done.length === 2)
    expect(done[1]).toEqual([0])
  })
})

test('a backoff that never answers leaves the wait to the job, and calls onError', async () => {
  const { plain } = await prepare()
  await plain.enqueue('step', { n: 1 }, { maxAttempts: 2, backoff: 'none' })
  const errors: unknown[] = []
  const fails = (): never => {
    throw new Error('failed')
  }
  await using _worker = plain.work(fails, { backoff: never, onError: (error) => errors.push(error) })

  await until(async () => (await failures(plain)).length === 1)
  expect(errors).toContainEqual(new Error('the backoff function did not answer in time'))
})
