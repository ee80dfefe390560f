import { batch, InvalidArgumentError, MaxRunError } from 'perilune'
import { describe, expect, test } from 'vitest'
import { type Payloads, setup, until } from '../../../test/queue-fixture.ts'
import type { Backoffs, Handlers } from './attempts.ts'
import type { ClaimedJob } from '../claims/claimed-job.ts'
import type { FoundJob } from '../jobs/job.ts'

const HOUR_MS = 3_600_000
const to = 'customer'
const own = { backoff: { kind: 'fixed', base: '2h', jitter: 0 } } as const

class Busy extends Error {
  override readonly name = 'Busy'
}

/** How many hours each job waits after its handler failed once, and the errors that onError got, in order. */
async function waitsOf(
  options: readonly object[],
  handlers: Handlers<Payloads>,
  backoff: Backoffs<Payloads>,
): Promise<{ hours: number[]; errors: string[] }> {
  const { queue } = await setup({ clock: 'real' })
  const jobs = options.map((each) => ({ name: 'mail' as const, payload: { to }, ...own, ...each }))
  const enqueued = await queue.enqueueMany(jobs)
  const errors: string[] = []
  const onError = (error: unknown): void => void errors.push(String(error))
  await using _worker = queue.work(handlers, { backoff, onError })
  await until(async () => (await queue.inspect()).scheduled === jobs.length)
  return { hours: hoursOf(await queue.jobs.getMany(enqueued.map(({ id }) => id))), errors }
}

function hoursOf(jobs: readonly (FoundJob | null)[]): number[] {
  return jobs.map((job) => Math.round(((job?.atMs ?? 0) - (job?.failure?.atMs ?? 0)) / HOUR_MS))
}

const fails = {
  mail: () => {
    throw new Busy('busy')
  },
}

describe('the backoff of a worker', () => {
  test("is called with the thrown value and the job, and replaces the job's own backoff", async () => {
    const seen: unknown[] = []
    const { hours, errors } = await waitsOf([{ id: 'a' }], fails, (error, job) => {
      seen.push(error instanceof Busy, job.id, job.attempt, job.payload)
      return '5h'
    })

    expect(hours).toEqual([5])
    expect(seen).toEqual([true, 'a', 1, { to }])
    expect(errors).toEqual(['Busy: busy'])
  })

  test("leaves the wait to the job's own backoff when it returns null or nothing", async () => {
    const { hours, errors } = await waitsOf([{ id: 'a' }, { id: 'b' }, { id: 'c' }], fails, (_, { id }) =>
      id === 'a' ? null : id === 'b' ? undefined : '1h',
    )

    expect(hours).toEqual([2, 2, 1])
    expect(errors).toEqual(['Busy: busy', 'Busy: busy', 'Busy: busy'])
  })

  test('may be asynchronous', async () => {
    const later = async (): Promise<'7h'> => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      return '7h'
    }
    expect((await waitsOf([{}], fails, later)).hours).toEqual([7])
  })

  test('applies to one name when there are several', async () => {
    const { queue } = await setup({ clock: 'real' })
    const { id: mail } = await queue.enqueue('mail', { to }, own)
    const { id: image } = await queue.enqueue('image', { url: 'u' }, own)
    await using _worker = queue.work(fails.mail, { backoff: { image: (_, job) => urlOf(job) } })
    await until(async () => (await queue.inspect()).scheduled === 2)

    expect(hoursOf(await queue.jobs.getMany([mail, image]))).toEqual([2, 9])
  })

  test.each([
    [
      'throws',
      () => {
        throw new Error('no idea')
      },
      'Error: no idea',
    ],
    ['rejects', () => Promise.reject(new Error('no idea')), 'Error: no idea'],
    ['gives a number', () => 5000, /must be a duration/],
    ['gives no duration', () => 'soon', /must be a duration/],
    ['gives more than a year', () => '366d', /must be between 0ms and 365d/],
  ])("that %s leaves the wait to the job's own backoff, and calls onError", async (_, backoff, why) => {
    const { hours, errors } = await waitsOf([{}], fails, backoff as never)

    expect(hours).toEqual([2])
    expect(errors).toEqual(['Busy: busy', expect.stringMatching(why)])
  })

  test('is called for each failed job of a batch, and for one that took too long', async () => {
    const resize = batch<{ to: string }>({ size: 2, within: '1h' }, (jobs) =>
      jobs.map(({ id }) => (id === 'a' ? new Busy('busy') : new TypeError('b'))),
    )
    const byKind = (error: unknown) =>
      error instanceof Busy ? '5h' : error instanceof MaxRunError ? '6h' : null
    const gathered = waitsOf([{ id: 'a' }, { id: 'b' }], { mail: resize }, byKind)
    const hangs = { mail: () => new Promise((resolve) => setTimeout(resolve, 2000).unref()) }

    expect((await waitsOf([{ maxRun: '20ms' }], hangs, byKind)).hours).toEqual([6])
    expect((await gathered).hours).toEqual([5, 2])
  })

  test('is not called after the last attempt, for a job that its handler has settled, or without a handler', async () => {
    const { queue } = await setup({ clock: 'real' })
    await queue.enqueue('mail', { to }, { maxAttempts: 1 })
    await queue.enqueue('mail', { to: 'later' }, { id: 'later' })
    await queue.enqueue('image', { url: 'u' })
    const asked: string[] = []
    const mail = async (job: ClaimedJob<{ to: string }>) => {
      if (job.id === 'later') await job.retry({ delay: '1h' })
      throw new Busy('busy')
    }
    const backoff = (_: unknown, job: ClaimedJob) => {
      asked.push(job.id)
      return null
    }
    await using _worker = queue.work({ mail }, { backoff })

    await until(async () => {
      const { scheduled, dead } = await queue.inspect()
      return scheduled === 2 && dead === 1
    })

    expect(asked).toEqual([])
  })

  test('invalid ones are named in the error', async () => {
    const { queue } = await setup()
    for (const backoff of ['5s', null, { mail: '5s' }, { kind: 'fixed', base: '1s' }]) {
      expect(() => queue.work({}, { backoff: backoff as never })).toThrow(InvalidArgumentError)
    }
    // @ts-expect-error there are no jobs of this name
    expect(() => queue.work({}, { backoff: { mails: 5 } })).toThrow(
      /backoff must be a function, or an object/,
    )
  })
})

function urlOf({ payload }: ClaimedJob<{ url: string }>): '9h' | null {
  return payload.url === 'u' ? '9h' : null
}
