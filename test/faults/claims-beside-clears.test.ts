// Claims of jobs or messages beside a clear of their own instance that is under way, or has no answer. See
// claims-ended.test.ts for those that a clear ends.

import { AmbiguousError, type Perilune } from 'perilune'
import { expect, test } from 'vitest'
import { holdClears } from '../held-clears.ts'
import { scene } from '../lease-fixture.ts'

const LEASE = { lease: '1m' } as const
const CLAIMS = /^(feed\/claim|queue\/(ack-and-claim|receive))/

test('a job whose letter comes after the answer to the clear is not begun', async () => {
  const { redis, other, name } = await scene()
  const letters = holdLetters(redis)
  const begun: unknown[] = []
  const worker = redis.queue(name).work((job) => void begun.push(job.payload), { lease: '1m' })
  const theirs = other.queue(name)
  await expect.poll(async () => (await theirs.inspect()).idle).toBe(1)
  await theirs.enqueue('mail', 'before')
  await expect.poll(() => letters.held).toBe(1)

  await redis.queue(name).clear()
  letters.release()
  await theirs.enqueue('mail', 'after')

  await expect.poll(() => begun).toContain('after')
  await worker.close()
  expect(begun).toEqual(['after'])
})

const OVERTAKEN: Readonly<Record<string, (redis: Perilune, name: string) => Promise<unknown>>> = {
  'a job by hand': async (redis, name) => {
    const [job] = await redis.queue(name).claim({ ...LEASE, wait: '5s' })
    job?.assertHeld()
    await job?.ack()
    return job?.payload
  },
  'a job of a worker': async (redis, name) => {
    const payload = await new Promise((resolve) => {
      redis.queue(name).work((job) => resolve(job.payload), { lease: '1m' })
    })
    await expect.poll(async () => (await redis.queue(name).inspect()).claimed).toBe(0)
    return payload
  },
  'a message': async (redis, name) => {
    const claim = await redis.feed(name).claim({ ...LEASE, wait: '5s' })
    claim?.assertHeld()
    await claim?.ack()
    return claim?.messages[0]?.body
  },
}

test.each(Object.entries(OVERTAKEN))(
  '%s is done whose claim was sent only after a clear, which was asked for later',
  async (_, take) => {
    const { redis, other, name } = await scene()
    const { runner } = redis.runtime
    const { run } = runner
    let clearing: Promise<unknown> | null = null
    const clear = async (): Promise<void> => {
      await redis.queue(name).clear()
      await redis.feed(name).clear()
      await other.queue(name).enqueue('mail', 'after')
      await other.feed(name).append('after')
    }
    runner.run = async (operation, keys, args, trace) => {
      if (CLAIMS.test(operation.script.name)) await (clearing ??= clear())
      return (await run.call(runner, operation, keys, args, trace)) as never
    }

    expect(await take(redis, name)).toBe('after')
  },
)

test('a job whose handler finds its lease in doubt begins again', async () => {
  const { redis, other, name } = await scene()
  const found: number[] = []
  const worker = redis.queue(name).work(
    async (job) => {
      if (found.push(job.remainingMs) > 1) return
      await failClear(redis, name)
      found.push(job.remainingMs)
      await job.log('in doubt')
      job.assertHeld()
    },
    { lease: '1m', onError: () => undefined },
  )
  await other.queue(name).enqueue('mail', 0, { maxAttempts: 1 })

  await expect.poll(() => found.length).toBe(3)
  await expect.poll(async () => (await other.queue(name).inspect()).claimed).toBe(0)
  expect(found[1]).toBe(0)
  expect(await other.queue(name).inspect()).toMatchObject({ ready: 0, dead: 0 })
  await worker.close()
})

/** A clear without an answer, which was not carried out. Until it has ended, no extension is answered. */
async function failClear(redis: Perilune, name: string): Promise<void> {
  const { runner } = redis.runtime
  const { run } = runner
  runner.run = async (operation, keys, args, trace) => {
    if (operation.script.name.endsWith('clear')) throw new AmbiguousError('clear')
    if (operation.script.name.endsWith('extend')) await new Promise((resolve) => setTimeout(resolve, 300))
    return (await run.call(runner, operation, keys, args, trace)) as never
  }
  await redis
    .queue(name)
    .clear()
    .catch(() => undefined)
}

test.each([false, true])(
  'a worker does a job that it claimed after the clear, and before the answer to it (sent again: %s)',
  async (sentAgain) => {
    const { redis, other, name } = await scene()
    const finished: unknown[] = []
    const worker = redis.queue(name).work((job) => void finished.push(job.payload), { lease: '1m' })
    const clear = holdClears(redis, sentAgain)
    const clearing = redis.queue(name).clear()
    await clear.cleared

    await other.queue(name).enqueueMany([0, 1, 2].map((payload) => ({ name: 'mail', payload })))
    await expect.poll(async () => (await other.queue(name).inspect()).ready).toBe(0)
    clear.release()
    await clearing

    await expect.poll(() => finished).toEqual([0, 1, 2])
    await expect.poll(async () => (await other.queue(name).inspect()).claimed).toBe(0)
    await worker.close()
  },
)

test('a worker asks about its jobs when the clear has no answer, and acks them if it was not carried out', async () => {
  const { redis, other, name } = await scene()
  const ends: (() => void)[] = []
  const aborted: unknown[] = []
  const worker = redis.queue(name).work(
    (job) => {
      job.signal.addEventListener('abort', () => aborted.push(job.id))
      return new Promise<void>((resolve) => ends.push(resolve))
    },
    { lease: '1m' },
  )
  await other.queue(name).enqueueMany([0, 1, 2].map((payload) => ({ name: 'mail', payload })))
  await expect.poll(() => ends.length).toBe(3)

  const { runner } = redis.runtime
  const { run } = runner
  runner.run = (operation, ...terms) =>
    operation.script.name.endsWith('clear')
      ? Promise.reject(new AmbiguousError('clear'))
      : (run.call(runner, operation, ...terms) as never)
  await expect(redis.queue(name).clear()).rejects.toMatchObject({ code: 'ambiguous' })
  for (const end of ends) end()

  await expect.poll(async () => (await other.queue(name).inspect()).claimed).toBe(0)
  expect(await other.queue(name).inspect()).toMatchObject({ ready: 0, dead: 0 })
  expect(aborted).toEqual([])
  await worker.close()
})

interface HeldLetters {
  readonly held: number
  release(): void
}

/** Letters arrive at this instance once they are released. */
function holdLetters({ runtime: { mailbox } }: Perilune): HeldLetters {
  const letters = { held: 0, release: (): void => undefined }
  const released = new Promise<void>((resolve) => (letters.release = resolve))
  const expectLetters = mailbox.expect.bind(mailbox)
  mailbox.expect = async (...args) => {
    const post = await expectLetters(...args)
    const next = post.next.bind(post)
    post.next = async (...terms) => {
      const letter = await next(...terms)
      letters.held += 1
      await released
      return letter === null || letter === 'missed' ? letter : { ...letter, receivedAt: performance.now() }
    }
    return post
  }
  return letters
}
