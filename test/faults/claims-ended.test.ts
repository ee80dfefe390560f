// Claims of jobs or messages that their own instance ends: it clears the queue or feed, or closes. Kept leases behave
// the same way (lease-states.test.ts, src/runtime/connection/closing.test.ts).

import { AmbiguousError, type ClaimedJob, LeaseLostError, type Perilune, type Queue } from 'perilune'
import { describe, expect, test } from 'vitest'
import { scene } from '../lease-fixture.ts'

interface Held {
  readonly remainingMs: number
  readonly signal?: AbortSignal
  assertHeld(): void
  extend(): Promise<void>
  /** Reports to the server that it is done. */
  end(): Promise<unknown>
}

interface Kind {
  take(redis: Perilune, name: string): Promise<Held>
  clear(redis: Perilune, name: string): Promise<boolean>
}

const PARTITIONS = { partitions: 3 } as const
const LEASE = { lease: '1m' } as const
const SEVERAL = /dead letters|of a partition/
const CLAIMS = /^(feed\/claim|queue\/(ack-and-claim|receive))/

/** The job, and how it is done. */
function done<Claimed extends Omit<Held, 'end'> & { ack(): Promise<unknown> }>(
  claimed?: Claimed | null,
): Held {
  if (claimed === undefined || claimed === null) throw new Error('nothing was there')
  return Object.assign(claimed, { end: () => claimed.ack() })
}

interface JobKind extends Kind {
  claimed(redis: Perilune, name: string): Promise<{ readonly claimed: number }>
}

const HANDS: Readonly<Record<string, JobKind>> = {
  'a job that was claimed by hand': {
    take: async (redis, name) => {
      await redis.queue(name).enqueue('mail', 0)
      const [job] = await redis.queue(name).claim(LEASE)
      return done(job)
    },
    clear: (redis, name) => redis.queue(name).clear(),
    claimed: (redis, name) => redis.queue(name).inspect(),
  },
  'a job of a partition that was claimed by hand': {
    take: async (redis, name) => {
      await redis.queue(name, PARTITIONS).enqueue('mail', 0)
      const [job] = await redis.queue(name, PARTITIONS).claim(LEASE)
      return done(job)
    },
    clear: (redis, name) => redis.queue(name, PARTITIONS).clear(),
    claimed: (redis, name) => redis.queue(name, PARTITIONS).inspect(),
  },
}

const MESSAGES: Readonly<Record<string, Kind>> = {
  'a claim of messages': {
    take: async (redis, name) => {
      await redis.feed(name).append(0)
      return done(await redis.feed(name).claim(LEASE))
    },
    clear: (redis, name) => redis.feed(name).clear(),
  },
  'a claim of dead letters': {
    take: async (redis, name) => {
      const feed = redis.feed(name, { maxClaims: 1 })
      await feed.append(0)
      await (await feed.claim())?.release()
      await feed.claim()
      return done(await feed.deadLetters.claim(LEASE))
    },
    clear: (redis, name) => redis.feed(name).clear(),
  },
  'a claim of messages of a partition': {
    take: async (redis, name) => {
      await redis.feed(name, PARTITIONS).append(0)
      return done(await redis.feed(name, PARTITIONS).claim(LEASE))
    },
    clear: (redis, name) => redis.feed(name, PARTITIONS).clear(),
  },
}

describe.each(Object.entries({ ...HANDS, ...MESSAGES }))('%s', (what, kind) => {
  test('is lost at once when the instance clears its queue or feed', async () => {
    const { redis, name } = await scene()
    const held = await kind.take(redis, name)
    const unheard = held.signal === undefined ? held : await kind.take(redis, name)

    expect(await kind.clear(redis, name)).toBe(true)

    expect(held.signal?.reason ?? new LeaseLostError('none', 0)).toBeInstanceOf(LeaseLostError)
    for (const each of [held, unheard]) {
      expect(each.remainingMs).toBe(0)
      expect(() => each.assertHeld()).toThrow(LeaseLostError)
      await expect(each.end()).rejects.toThrow(LeaseLostError)
    }
  })

  // Other messages belong to several claims.
  test.skipIf(SEVERAL.test(what))(
    'is not believed when it was claimed just before, and its answer arrived later',
    async () => {
      const { redis, name } = await scene()
      await kind.clear(redis, name)
      const { run } = redis.runtime.runner
      let clearing: Promise<unknown> = Promise.resolve()
      let isClearing = false
      redis.runtime.runner.run = (operation, keys, args, trace) => {
        const asked = run.call(redis.runtime.runner, operation, keys, args, trace)
        if (CLAIMS.test(operation.script.name) && !isClearing) {
          isClearing = true
          clearing = kind.clear(redis, name)
        }
        return asked as never
      }

      // Where the answer to the clear is noted first, the claim is sent again, and finds nothing.
      const held = await kind.take(redis, name).catch(() => null)
      await clearing

      expect(held?.remainingMs ?? 0).toBe(0)
    },
  )

  // One answer of a partition may be of another one.
  test.skipIf(SEVERAL.test(what)).each([false, true])(
    'is kept when it was claimed after the clear, and before the answer to it (sent again: %s)',
    async (sentAgain) => {
      const { redis, name } = await scene()
      await kind.take(redis, name)
      const clear = holdClears(redis, sentAgain)
      const clearing = kind.clear(redis, name)
      await clear.cleared

      const held = await kind.take(redis, name)
      clear.release()
      await clearing

      // In doubt nothing is believed until the server was asked.
      expect(held.remainingMs > 0).toBe(!sentAgain)
      await held.extend()
      held.assertHeld()
      await held.end()
    },
  )

  test('does not end a later claim, or a claim of another name', async () => {
    const { redis, name } = await scene()
    const other = await kind.take(redis, `${name}:other`)
    await kind.take(redis, name)
    await kind.clear(redis, name)

    const held = await kind.take(redis, name)

    for (const each of [held, other]) {
      each.assertHeld()
      await each.end()
    }
  })

  // Partitions are agreed on first: without that answer none is cleared.
  test.skipIf(/of a partition/.test(what))(
    'is lost when the clear has no answer: it may have happened',
    async () => {
      const { redis, name, loseAnswers } = await scene()
      const held = await kind.take(redis, name)
      loseAnswers(true)

      await expect(kind.clear(redis, name)).rejects.toMatchObject({ code: 'ambiguous' })

      expect(held.remainingMs).toBe(0)
      expect(() => held.assertHeld()).toThrow(LeaseLostError)
    },
  )

  test('is held as before when the clear failed', async () => {
    const { redis, name, forbid } = await scene()
    const held = await kind.take(redis, name)
    await forbid(true)

    await expect(kind.clear(redis, name)).rejects.toMatchObject({ code: 'forbidden' })

    await forbid(false)
    held.assertHeld()
    await held.end()
  })
})

describe.each(Object.entries(HANDS))('%s', (_, kind) => {
  test('is aborted by its signal when the instance closes, and is not given back', async () => {
    const { redis, other, name } = await scene()
    const held = await kind.take(redis, name)
    const { signal } = held as { signal: AbortSignal }

    const closing = redis.close()

    expect(signal.reason).toBeInstanceOf(LeaseLostError)
    expect(signal.reason.cause).toMatchObject({ code: 'closed' })
    await closing
    held.assertHeld()
    expect((await kind.claimed(other, name)).claimed).toBe(1)
  })

  test('has an aborted signal once the instance is closed', async () => {
    const { redis, name } = await scene()
    const held = await kind.take(redis, name)
    await redis.close()

    expect((held as { signal: AbortSignal }).signal.reason).toMatchObject({ cause: { code: 'closed' } })
  })
})

type Queues = (redis: Perilune, name: string) => Pick<Queue, 'enqueue' | 'work' | 'clear'>

const queues: [string, Queues][] = [
  ['of a queue', (redis, name) => redis.queue(name)],
  ['of a partition', (redis, name) => redis.queue(name, PARTITIONS)],
]

test.each(queues)(
  'a job %s that a worker holds is lost at once when the instance clears it',
  async (_, queueOf) => {
    const { redis, name } = await scene()
    const queue = queueOf(redis, name)
    const begun = new Promise<ClaimedJob>((resolve) => {
      queue.work(
        (job: ClaimedJob) => {
          resolve(job)
          return new Promise((end) => job.signal.addEventListener('abort', end))
        },
        { lease: '1m' },
      )
    })
    await queue.enqueue('mail', 0)
    const job = await begun

    await queue.clear()

    expect(job.signal.reason).toBeInstanceOf(LeaseLostError)
    expect(job.isClaimed).toBe(false)
  },
)

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

interface HeldClears {
  /** Resolves when the server has cleared. */
  readonly cleared: Promise<void>
  /** Lets the answer arrive. */
  release(): void
}

/** `sentAgain`: as when the server did not know the script. */
function holdClears({ runtime: { runner } }: Perilune, sentAgain: boolean): HeldClears {
  let [isDone, release] = [(): void => undefined, (): void => undefined]
  const cleared = new Promise<void>((resolve) => (isDone = resolve))
  const released = new Promise<void>((resolve) => (release = resolve))
  const { run } = runner
  runner.run = async (operation, keys, args, trace) => {
    const answer = await run.call(runner, operation, keys, args, trace)
    if (!operation.script.name.endsWith('clear')) return answer as never
    if (sentAgain && trace !== undefined) trace.sentAgain = true
    isDone()
    await released
    return answer as never
  }
  return { cleared, release }
}

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
