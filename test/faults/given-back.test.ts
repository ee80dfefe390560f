// A grant that arrives after its signal has aborted is given back, so that others can have it.

import type { Perilune } from 'perilune'
import { expect, test } from 'vitest'
import { instance } from '../instance.ts'
import type { Ending } from './public-calls/call.ts'

const PARTITIONS = { partitions: 2 } as const
const WAIT = { wait: '10s' } as const

interface Taking {
  /** Whose answer comes late. */
  readonly script: string
  /** Makes what can be taken. */
  prepare?(redis: Perilune, name: string): Promise<unknown>
  take(redis: Perilune, name: string, ending: Ending): Promise<unknown>
  /** Whether another caller can take it. */
  isFree(redis: Perilune, name: string): Promise<boolean>
}

const takings: [string, Taking][] = [
  [
    'a claim of a feed',
    {
      script: 'feed/claim',
      prepare: (redis, name) => redis.feed(name).append(1),
      take: (redis, name, ending) => redis.feed(name).claim({ ...WAIT, ...ending }),
      isFree: async (redis, name) => (await redis.feed(name).claim()) !== null,
    },
  ],
  [
    'a claim of a feed in partitions',
    {
      script: 'feed/claim',
      prepare: (redis, name) => redis.feed(name, PARTITIONS).append(1),
      take: (redis, name, ending) => redis.feed(name, PARTITIONS).claim({ ...WAIT, ...ending }),
      isFree: async (redis, name) => (await redis.feed(name, PARTITIONS).claim()) !== null,
    },
  ],
  [
    'a claimed job',
    {
      script: 'queue/ack-and-claim-plain',
      prepare: (redis, name) => redis.queue(name).enqueue('tidy', 1),
      take: (redis, name, ending) => redis.queue(name).claim({ ...WAIT, ...ending }),
      isFree: async (redis, name) => (await redis.queue(name).claim()).length > 0,
    },
  ],
  [
    'a detached job',
    {
      script: 'queue/ack-and-claim-plain',
      prepare: (redis, name) => redis.queue(name).enqueue('tidy', 1),
      take: (redis, name, ending) => redis.queue(name).claimDetached({ ...WAIT, ...ending }),
      isFree: async (redis, name) => (await redis.queue(name).claimDetached()).jobs.length > 0,
    },
  ],
  [
    'a claimed job of a queue in partitions',
    {
      script: 'queue/ack-and-claim-plain',
      prepare: (redis, name) => redis.queue(name, PARTITIONS).enqueue('tidy', 1),
      take: (redis, name, ending) => redis.queue(name, PARTITIONS).claim({ ...WAIT, ...ending }),
      isFree: async (redis, name) => (await redis.queue(name, PARTITIONS).claim()).length > 0,
    },
  ],
  [
    'a key of once',
    {
      script: 'once/begin',
      take: (redis, name, ending) =>
        redis.once(name).run('k', () => expect.fail('it ran'), { ...WAIT, ...ending }),
      isFree: async (redis, name) => (await redis.once(name).begin('k')).status === 'started',
    },
  ],
  [
    'a detached attempt of once',
    {
      script: 'once/begin',
      take: (redis, name, ending) => redis.once(name).beginDetached('k', { ...WAIT, ...ending }),
      isFree: async (redis, name) => (await redis.once(name).begin('k')).status === 'started',
    },
  ],
  [
    'a lock',
    {
      script: 'lock/acquire',
      take: (redis, name, ending) => redis.lock(name).acquire({ ...WAIT, ...ending }),
      isFree: async (redis, name) => (await redis.lock(name).tryAcquire()) !== null,
    },
  ],
  [
    'a lock that is asked for once',
    {
      script: 'lock/acquire',
      take: (redis, name, ending) => redis.lock(name).acquire({ ...ending }),
      isFree: async (redis, name) => (await redis.lock(name).tryAcquire()) !== null,
    },
  ],
  [
    'a detached lock',
    {
      script: 'lock/acquire',
      take: (redis, name, ending) => redis.lock(name).acquireDetached({ ...ending }),
      isFree: async (redis, name) => (await redis.lock(name).tryAcquire()) !== null,
    },
  ],
  [
    'a set of locks',
    {
      script: 'lock/acquire-all',
      take: (redis, name, ending) => redis.locks(['a', 'b'], { group: name }).acquire({ ...ending }),
      isFree: async (redis, name) => (await redis.locks(['a', 'b'], { group: name }).tryAcquire()) !== null,
    },
  ],
  [
    'a permit',
    {
      script: 'semaphore/acquire',
      take: (redis, name, ending) => redis.semaphore(name, { limit: 1 }).acquire({ ...ending }),
      isFree: async (redis, name) => (await redis.semaphore(name, { limit: 1 }).tryAcquire()) !== null,
    },
  ],
  [
    'a load of a cache',
    {
      script: 'cache/elect',
      take: (redis, name, ending) => redis.cache(name).loadDetached('k', { ...ending }),
      isFree: async (redis, name) => (await redis.cache(name).loadDetached('k')).status === 'elected',
    },
  ],
]

test.each(takings)(
  '%s that is granted after the abort is given back',
  async (_, { script, prepare, take, isFree }) => {
    const own = instance()
    const other = instance()
    await prepare?.(own.redis, own.name)
    await own.redis.lock('known').inspect()
    own.slowly(script, 300)
    const stop = new AbortController()
    const taking = take(own.redis, own.name, { signal: stop.signal })
    taking.catch(() => undefined)
    await expect.poll(() => own.calls).toContain(script)

    stop.abort(new Error('stopped'))

    await expect(taking).rejects.toThrow('stopped')
    await expect.poll(() => isFree(other.redis, own.name)).toBe(true)
  },
)
