import { AsyncLocalStorage } from 'node:async_hooks'
import { batch, type ClaimedJob } from 'perilune'
import { describe, expect, test } from 'vitest'
import { type Payloads, setup, until } from '../../test/queue-fixture.ts'

const DEPENDENCY = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const mail = { to: 'ada' }

describe('the hooks of a queue', () => {
  test('give a job the trace of its enqueuer, unless it names one itself', async () => {
    const { redis, name } = await setup()
    const current = new AsyncLocalStorage<string>()
    const queue = redis.queue<Payloads>(name, { hooks: { trace: () => current.getStore() } })

    await queue.enqueue('mail', mail)
    await current.run(DEPENDENCY, async () => {
      await queue.enqueue('mail', mail)
      await queue.enqueue('mail', mail, { trace: 'another' })
      await queue.enqueueMany([
        { name: 'mail', payload: mail },
        { name: 'mail', payload: mail, trace: 'a third' },
      ])
    })

    const jobs = await queue.claim({ limit: 5 })
    expect(jobs.map(({ trace }) => trace)).toEqual(['', DEPENDENCY, 'another', DEPENDENCY, 'a third'])
  })

  test('wrap each attempt: its handler, its result and its failure', async () => {
    const { redis, name } = await setup({ clock: 'real' })
    const seen: unknown[] = []
    const around = async (job: ClaimedJob, run: () => Promise<unknown>): Promise<unknown> => {
      seen.push(`${job.name} ${job.attempt} begins`)
      try {
        return { wrapped: await run() }
      } catch (error) {
        seen.push(error)
        throw new RangeError('wrapped')
      }
    }
    const queue = redis.queue<Payloads>(name, { hooks: { around } })
    await queue.settings.set({ retention: { count: 10 } })
    const { id } = await queue.enqueue('mail', mail, { backoff: 'none' })
    await using _worker = queue.work({
      mail: ({ attempt }) => {
        if (attempt === 1) throw new TypeError('first')
        return 'second'
      },
    })

    await until(async () => (await queue.jobs.get(id))?.state === 'done')

    expect(seen).toEqual(['mail 1 begins', new TypeError('first'), 'mail 2 begins'])
    expect(await queue.jobs.get(id)).toMatchObject({
      result: { wrapped: 'second' },
      failure: { kind: 'RangeError' },
    })
  })

  test('wrap the attempts of a batch one by one, and get the error of those that took too long', async () => {
    const { redis, name } = await setup({ clock: 'real' })
    const seen: string[] = []
    const around = async (job: ClaimedJob, run: () => Promise<unknown>): Promise<unknown> => {
      return run().catch((error: Error) => {
        seen.push(`${(job.payload as { to: string }).to} ${error.name}`)
        throw error
      })
    }
    const queue = redis.queue<Payloads>(name, { hooks: { around } })
    await queue.enqueueMany([
      { name: 'mail', payload: mail, maxAttempts: 1 },
      { name: 'mail', payload: { to: 'bob' }, maxAttempts: 1, maxRun: '20ms' },
    ])
    const handler = batch<unknown>({ size: 2 }, () => new Promise((resolve) => setTimeout(resolve, 200)))
    await using _worker = queue.work({ mail: handler })

    await until(async () => (await queue.settings.inspect()).acked === 1)

    expect(seen).toEqual(['bob MaxRunError'])
  })

  test('must be functions', async () => {
    const { redis } = await setup()
    for (const hooks of [{ trace: 'x' }, { around: 1 }, { before: () => undefined }]) {
      expect(() => redis.queue('x', { hooks: hooks as never })).toThrow(/hooks/)
    }
  })
})
