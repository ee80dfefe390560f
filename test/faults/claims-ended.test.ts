// Claims of jobs or messages that their own instance ends: it clears the queue or feed, or closes. Kept leases behave
// the same way (lease-states.test.ts, src/runtime/connection/closing.test.ts).

import { type ClaimedJob, LeaseLostError, type Perilune, type Queue } from 'perilune'
import { describe, expect, test } from 'vitest'
import { holdClears } from '../held-clears.ts'
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
