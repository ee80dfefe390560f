// The hottest row of each bench, as a loop that somebody can profile. A new structure is a line here.

import type { Perilune } from '../../src/index.ts'
import { makeMembers, makeQueries } from '../autocomplete/members.ts'
import type { Built } from '../harness/built.ts'

/** One call of the loop. */
export type Step = () => Promise<unknown>

export interface Case {
  /** What is called, for the reader of the profile. */
  readonly about: string
  readonly inFlight: number
  /** One step for each loop in flight. */
  prepare(redis: Perilune, built: Built): Step[]
}

const SUBJECTS = 1000

export const CASES: Readonly<Record<string, Case>> = {
  feed: {
    about: 'appends of 100 bytes, 100 in flight',
    inFlight: 100,
    prepare(redis, { text }) {
      const feed = redis.feed('profile', { codec: text })
      const body = 'x'.repeat(100)
      return steps(100, () => feed.append(body))
    },
  },
  'feed-page': {
    about: 'pages of 20, 20 in flight',
    inFlight: 20,
    prepare(redis, { text }) {
      const feed = redis.feed('profile-pages', { codec: text })
      const filled = feed.appendMany(Array.from({ length: 1000 }, () => ({ body: 'x'.repeat(100) })))
      return steps(20, async () => {
        await filled
        return feed.read({ limit: 20 })
      })
    },
  },
  lock: {
    about: 'pairs of acquire and release, one at a time',
    inFlight: 1,
    prepare(redis) {
      const lock = redis.lock('profile')
      return steps(1, async () => (await lock.acquire({ wait: '1m' })).release())
    },
  },
  'lock-queue': {
    about: 'pairs of acquire and release on one lock, 100 in flight',
    inFlight: 100,
    prepare(redis) {
      const lock = redis.lock('profile-queue')
      return steps(100, async () => (await lock.acquire({ wait: '1m' })).release())
    },
  },
  semaphore: {
    about: 'pairs of acquire and release on a semaphore of five, 100 in flight',
    inFlight: 100,
    prepare(redis) {
      const semaphore = redis.semaphore('profile', { limit: 5 })
      return steps(100, async () => (await semaphore.acquire({ wait: '1m' })).release())
    },
  },
  'rate-limit': {
    about: `takes of ${SUBJECTS} subjects, 100 in flight`,
    inFlight: 100,
    prepare(redis) {
      const limiter = redis.rateLimit('profile', { limit: 1_000_000, window: '1m' })
      let taken = 0
      return steps(100, () => limiter.take(`subject-${taken++ % SUBJECTS}`))
    },
  },
  once: {
    about: 'runs of new keys, 20 in flight',
    inFlight: 20,
    prepare(redis) {
      const once = redis.once<number>('profile')
      let run = 0
      return steps(20, () => once.run(`key-${run++}`, async () => 1))
    },
  },
  autocomplete: {
    about: 'ten suggestions by prefix among 10,000 members, 10 in flight',
    inFlight: 10,
    prepare(redis) {
      const index = redis.autocomplete('profile')
      const members = makeMembers(10_000)
      const queries = makeQueries(members, 1000)
      const filled = index.addMany(members)
      let asked = 0
      return steps(10, async () => {
        await filled
        return index.suggest(queries[asked++ % queries.length] ?? '')
      })
    },
  },
}

function steps(count: number, step: Step): Step[] {
  return Array.from({ length: count }, () => step)
}
