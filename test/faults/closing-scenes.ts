// For each structure, what an instance holds, waits for or does in the background when it is closed. The closing
// process plays `hold`, and ends; another one checks afterwards that nothing is `left`.

import type { Lease, Lock, LockAccess, Perilune, Semaphore } from 'perilune'
import type { EventSource } from '../../src/counters/count-source.ts'
import type { Sink } from '../../src/counters/sink.ts'

export interface Stage {
  readonly redis: Perilune
  /** No other scene uses it. */
  readonly name: string
  /** Notes how this ends. */
  watch(call: Promise<unknown>): void
}

export interface Scene {
  /** In another process, before: the state that the process meets. */
  prepare?(stage: Stage): Promise<unknown>
  /** In the process that closes. Resolves once it holds, or waits. */
  hold(stage: Stage): unknown
  /** How the calls that are watched end; by default there are none. */
  ends?: readonly string[]
  /** In another process, afterwards: what is still held, in words; null or false: nothing. */
  left?(stage: Stage): Promise<unknown>
}

const FOR_EVER = new Promise<never>(() => undefined)
const PATIENT = { wait: '1m' } as const
const CLOSED = 'DriverError closed'

const aborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => signal.addEventListener('abort', resolve))

async function reaches(question: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await question())) await new Promise((resolve) => setTimeout(resolve, 5))
}

async function isHeld(attempt: Promise<Lease | null>): Promise<boolean> {
  const lease = await attempt
  await lease?.release()
  return lease === null
}

/** Begins a task that continues until `over`. */
async function beginUnder(access: LockAccess | Semaphore, stage: Stage, over: (lease: Lease) => unknown) {
  await new Promise<void>((resolve) => {
    stage.watch(
      access.run(async (lease) => {
        resolve()
        await over(lease)
      }),
    )
  })
}

async function waitFor(place: Lock | Semaphore, { watch }: Stage): Promise<void> {
  watch(place.acquire(PATIENT))
  await reaches(async () => (await place.inspect()).waiting === 1)
}

async function follow(loop: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of loop);
}

const inMemory: Sink = {
  name: 'memory',
  missing: 'create',
  prepare: async () => undefined,
  read: async () => ({ seq: 0, values: new Map() }),
  close: async () => null,
  begin: async () => 1,
  apply: () => FOR_EVER,
}

const rows: EventSource = {
  kind: 'events',
  name: 'memory',
  missing: 'create',
  prepare: async () => undefined,
  rollUp: () => FOR_EVER,
  read: async () => ({ version: 0, values: new Map() }),
  waiting: async () => ({ rows: 0, ageMs: null }),
}

const lockScenes: Record<string, Scene> = {
  'a lock': {
    hold: ({ redis, name }) => redis.lock(name).acquire(),
    left: ({ redis, name }) => isHeld(redis.lock(name).tryAcquire()),
  },
  'a lock whose task ends when its signal aborts': {
    hold: (stage) => beginUnder(stage.redis.lock(stage.name), stage, ({ signal }) => aborted(signal)),
    ends: ['done'],
    left: ({ redis, name }) => isHeld(redis.lock(name).tryAcquire()),
  },
  'a lock whose task never ends': {
    hold: ({ redis, name }) => {
      const begun = redis.lock(name).run(() => FOR_EVER)
      begun.catch(() => undefined)
      return reaches(async () => (await redis.lock(name).inspect()).mode === 'held')
    },
    left: ({ redis, name }) => isHeld(redis.lock(name).tryAcquire()),
  },
  'a reader': {
    hold: ({ redis, name }) => redis.lock(name).shared.acquire(),
    left: ({ redis, name }) => isHeld(redis.lock(name).tryAcquire()),
  },
  'a set of locks': {
    hold: ({ redis, name }) => redis.locks([`${name}a`, `${name}b`], { group: name }).acquire(),
    left: ({ redis, name }) => isHeld(redis.locks([`${name}a`, `${name}b`], { group: name }).tryAcquire()),
  },
  'a lock that another has': {
    prepare: ({ redis, name }) => redis.lock(name).acquire(),
    hold: (stage) => waitFor(stage.redis.lock(stage.name), stage),
    ends: [CLOSED],
    left: async ({ redis, name }) => (await redis.lock(name).inspect()).waiting > 0,
  },
  'a lock that is asked for': {
    hold: ({ redis, name, watch }) => watch(redis.lock(name).tryAcquire()),
    ends: ['AmbiguousError ambiguous'],
    left: ({ redis, name }) => isHeld(redis.lock(name).tryAcquire()),
  },
  'an office': {
    hold: async ({ redis, name }) => {
      const campaign = redis.election(name).campaign(({ signal }) => aborted(signal).then(() => undefined))
      await reaches(() => campaign.leading)
    },
    left: ({ redis, name }) => redis.election(name).leader(),
  },
  'an office that another has': {
    prepare: async ({ redis, name }) => {
      const campaign = redis.election(name).campaign(({ signal }) => aborted(signal).then(() => undefined))
      await reaches(() => campaign.leading)
    },
    hold: async ({ redis, name }) => {
      redis.election(name).campaign(() => FOR_EVER)
      await reaches(async () => (await redis.lock(name).inspect()).waiting === 1)
    },
    left: async ({ redis, name }) => (await redis.lock(name).inspect()).waiting > 0,
  },
}

const semaphoreScenes: Record<string, Scene> = {
  'a permit': {
    hold: ({ redis, name }) => redis.semaphore(name, { limit: 1 }).acquire(),
    left: async ({ redis, name }) => (await redis.semaphore(name, { limit: 1 }).inspect()).used > 0,
  },
  'a permit whose task ends when its signal aborts': {
    hold: (stage) => {
      const semaphore = stage.redis.semaphore(stage.name, { limit: 1 })
      return beginUnder(semaphore, stage, ({ signal }) => aborted(signal))
    },
    ends: ['done'],
    left: async ({ redis, name }) => (await redis.semaphore(name, { limit: 1 }).inspect()).used > 0,
  },
  'a permit that another has': {
    prepare: ({ redis, name }) => redis.semaphore(name, { limit: 1 }).acquire(),
    hold: (stage) => waitFor(stage.redis.semaphore(stage.name, { limit: 1 }), stage),
    ends: [CLOSED],
    left: async ({ redis, name }) => (await redis.semaphore(name, { limit: 1 }).inspect()).waiting > 0,
  },
}

const onceScenes: Record<string, Scene> = {
  'an attempt': {
    hold: ({ redis, name }) => redis.once(name).begin('a'),
    left: async ({ redis, name }) => (await redis.once(name).begin('a')).status !== 'started',
  },
  'a task whose signal aborts': {
    hold: async ({ redis, name, watch }) => {
      await new Promise<void>((resolve) => {
        const task = redis.once(name).run('a', async ({ signal }) => {
          resolve()
          await aborted(signal)
          throw new Error('aborted by its signal')
        })
        watch(task)
      })
    },
    ends: ['Error undefined'],
    left: async ({ redis, name }) => (await redis.once(name).begin('a')).status !== 'started',
  },
  'an attempt of another': {
    prepare: ({ redis, name }) => redis.once(name).begin('a'),
    hold: ({ redis, name, watch }) => watch(redis.once(name).run('a', () => 'mine', PATIENT)),
    ends: [CLOSED],
  },
}

const cacheScenes: Record<string, Scene> = {
  'a load': {
    hold: async ({ redis, name, watch }) => {
      await new Promise<void>((resolve) => {
        const load = (): Promise<never> => {
          resolve()
          return FOR_EVER
        }
        watch(redis.cache(name).get('a', load, PATIENT))
      })
    },
    ends: [CLOSED],
    left: async ({ redis, name }) => (await redis.cache(name).get('a', () => 'mine', PATIENT)) !== 'mine',
  },
  'a load of another': {
    prepare: async ({ redis, name, watch }) => {
      await new Promise<void>((resolve) => {
        const load = (): Promise<never> => {
          resolve()
          return FOR_EVER
        }
        watch(redis.cache(name).get('a', load, PATIENT))
      })
    },
    hold: ({ redis, name, watch }) => watch(redis.cache(name).get('a', () => 'mine', PATIENT)),
    ends: [CLOSED],
  },
  'copies in the process': {
    hold: ({ redis, name }) => {
      const cache = redis.cache(name, { l1: { count: 10, age: '1m' } })
      return cache.get('a', () => 'mine')
    },
  },
}

const jobsOf = async ({ redis, name }: Stage): Promise<unknown> => {
  const { ready, claimed, idle } = await redis.queue(name).inspect()
  return claimed > 0 || idle > 0 ? { ready, claimed, idle } : null
}

const queueScenes: Record<string, Scene> = {
  'a worker that waits': {
    hold: async ({ redis, name }) => {
      redis.queue(name).work({ a: () => undefined })
      await reaches(async () => (await redis.queue(name).inspect()).idle === 1)
    },
    left: jobsOf,
  },
  'a worker whose jobs never end': {
    hold: async ({ redis, name }) => {
      let begun = 0
      const handler = (): Promise<never> => {
        begun += 1
        return FOR_EVER
      }
      redis.queue(name).work({ a: handler }, { concurrency: 2, prefetch: 2 })
      const job = { name: 'a', payload: 1, maxRun: '1h' } as const
      await redis.queue(name).enqueueMany([job, job, job, job])
      await reaches(() => begun === 2)
    },
    left: async (stage) => {
      const { ready } = await stage.redis.queue(stage.name).inspect()
      return (await jobsOf(stage)) ?? (ready === 4 ? null : { ready })
    },
  },
  'a worker whose job is just done': {
    hold: async ({ redis, name }) => {
      await redis.queue(name).enqueue('a', 1)
      await new Promise<void>((resolve) => redis.queue(name).work({ a: () => resolve() }))
    },
    left: async (stage) => {
      const { acked } = await stage.redis.queue(stage.name).inspect()
      return (await jobsOf(stage)) ?? (acked === 1 ? null : { acked })
    },
  },
  'a worker of partitions': {
    hold: async ({ redis, name }) => {
      const queue = redis.queue(name, { partitions: 3 })
      const begun = new Promise<void>((resolve) => {
        queue.work(() => {
          resolve()
          return FOR_EVER
        })
      })
      await queue.enqueueMany(Array.from({ length: 6 }, () => ({ name: 'a', payload: 1 })))
      await begun
    },
    left: async ({ redis, name }) => {
      const { claimed, idle } = await redis.queue(name, { partitions: 3 }).inspect()
      return claimed > 0 || idle > 0 ? { claimed, idle } : null
    },
  },
  'claims that wait': {
    hold: async ({ redis, name, watch }) => {
      watch(redis.queue(name).claim(PATIENT))
      watch(redis.queue(name).claimDetached(PATIENT))
      await reaches(async () => (await redis.queue(name).inspect()).idle === 2)
    },
    ends: [CLOSED, CLOSED],
    left: jobsOf,
  },
  'the end of a job': {
    hold: async ({ redis, name, watch }) => {
      const { id } = await redis.queue(name).enqueue('a', 1)
      watch(redis.queue(name).jobs.waitForResult(id, PATIENT))
    },
    ends: [CLOSED],
  },
  events: {
    hold: async ({ redis, name, watch }) => {
      const events = redis.queue(name).events()
      await redis.queue(name).enqueue('b', 1)
      const first = events.next()
      // Nothing is published before there is a listener.
      await reaches(async () => {
        await redis.queue(name).enqueue('b', 1)
        return Promise.race([first.then(() => true), new Promise<boolean>((no) => setTimeout(no, 5, false))])
      })
      watch(follow(events))
      watch(follow(redis.queue(`${name}p`, { partitions: 2 }).events()))
    },
    ends: [CLOSED, CLOSED],
  },
}

const feedScenes: Record<string, Scene> = {
  'readers that wait': {
    hold: async ({ redis, name, watch }) => {
      await redis.feed(name).append(1)
      watch(follow(redis.feed(name).tail()))
      watch(follow(redis.feed(name).subscriber('a').read()))
      watch(follow(redis.feed(`${name}p`, { partitions: 2 }).tail()))
      watch(redis.feed(name).read({ after: 'end', ...PATIENT }))
      // Answers come in the order of the calls.
      await redis.feed(name).inspect()
    },
    ends: [CLOSED, CLOSED, CLOSED, CLOSED],
  },
  'claims that wait': {
    hold: ({ redis, name, watch }) => {
      watch(redis.feed(name).claim(PATIENT))
      watch(redis.feed(`${name}p`, { partitions: 2 }).claim(PATIENT))
    },
    ends: [CLOSED, CLOSED],
  },
  'a claim that is asked for': {
    prepare: ({ redis, name }) => redis.feed(name).append(1),
    hold: ({ redis, name, watch }) => watch(redis.feed(name).claim()),
    ends: [CLOSED],
    left: async ({ redis, name }) => (await redis.feed(name).claim()) === null,
  },
}

const countersScenes: Record<string, Scene> = {
  'a loop that sleeps': {
    hold: ({ redis, name }) => redis.counters(name, { sink: inMemory }).flushEvery('1h'),
  },
  'a flush under way': {
    hold: async ({ redis, name, watch }) => {
      const failed = new Promise((_, reject) => {
        const counters = redis.counters(name, { sink: inMemory, fsyncGrace: '0s' })
        counters.flushEvery('1ms', { onError: reject })
        void counters.increment('a').catch(reject)
      })
      watch(failed)
      await reaches(async () => (await redis.counters(name, { sink: inMemory }).inspect()).dirty > 0)
    },
    ends: [CLOSED],
  },
  'a batch that settles': {
    hold: async ({ redis, name }) => {
      const counters = redis.counters(name, { sink: inMemory, fsyncGrace: '1h' })
      await counters.increment('a')
      counters.flushEvery('1ms')
    },
  },
  'a round under way': {
    hold: ({ redis, name }) => redis.counters(name, { events: rows }).flushEvery('1ms'),
  },
}

const rateLimitScenes: Record<string, Scene> = {
  // Nothing here extends a place: it ends with its lease.
  'a place': {
    hold: ({ redis, name }) => {
      const limiter = redis.rateLimit(name, { algorithm: 'concurrency', limit: 1, lease: '1m' })
      return limiter.take('a')
    },
  },
  'a take under way': {
    hold: ({ redis, name, watch }) => watch(redis.rateLimit(name, { limit: 1, window: '1m' }).take('a')),
    ends: ['AmbiguousError ambiguous'],
  },
}

/** By structure, and by what is held. */
export const scenes: Readonly<Record<string, Readonly<Record<string, Scene>>>> = {
  lock: lockScenes,
  semaphore: semaphoreScenes,
  once: onceScenes,
  cache: cacheScenes,
  queue: queueScenes,
  feed: feedScenes,
  counters: countersScenes,
  'rate-limit': rateLimitScenes,
}
