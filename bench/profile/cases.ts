// The hottest row of each bench, as a loop for a profiler. A new structure is a line here.

import Database from 'libsql'
import type { Counters, Perilune } from '../../src/index.ts'
import { makeMembers, makeQueries } from '../autocomplete/members.ts'
import type { Built } from '../harness/built.ts'
import { zipf } from '../harness/zipf.ts'

/** One call of the loop. */
export type Step = () => Promise<unknown>

export interface Case {
  /** What is called, for the reader of the profile. */
  readonly about: string
  readonly inFlight: number
  /** Callers wait in line: while the server is slow, only so many may, who wait for a moment. */
  readonly inLine?: number
  /** One step for each loop in flight. */
  prepare(redis: Perilune, built: Built): Step[]
}

const SUBJECTS = 1000
const JOBS = Array.from({ length: 1000 }, () => ({ name: 'job', payload: 'x' }))

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
    inLine: 6,
    prepare(redis) {
      const lock = redis.lock('profile-queue')
      return steps(100, async () => (await lock.acquire({ wait: '1m' })).release())
    },
  },
  semaphore: {
    about: 'pairs of acquire and release on a semaphore of five, 100 in flight',
    inFlight: 100,
    inLine: 12,
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
  counters: {
    about: "increments of 1,000 items by Zipf's law, 100 in flight",
    inFlight: 100,
    prepare(redis, built) {
      const counters = openCounters(redis, built, 'profile')
      const next = zipf(1000)
      return steps(100, () => counters.increment(next()))
    },
  },
  'counters-hot': {
    about: 'increments of one item, 100 in flight',
    inFlight: 100,
    prepare(redis, built) {
      const counters = openCounters(redis, built, 'profile-hot')
      return steps(100, () => counters.increment(1))
    },
  },
  cache: {
    about: 'hits of 1,000 keys in turn, 100 in flight',
    inFlight: 100,
    prepare(redis) {
      const cache = redis.cache<string>('profile', { ttl: '1h' })
      let asked = 0
      return steps(100, () => cache.get(`key-${asked++ % SUBJECTS}`, async () => 'x'.repeat(100)))
    },
  },
  collection: {
    about: 'a list of 100 items replaced, one at a time',
    inFlight: 1,
    prepare(redis) {
      const list = redis.collection<string>('profile', { kind: 'list', ttl: '1h' })
      const items = Array.from({ length: 100 }, (_, at) => `item ${at}`)
      return steps(1, () => list.replace(items))
    },
  },
  'queue-add': {
    about: 'adds of one job, 100 in flight',
    inFlight: 100,
    prepare(redis) {
      const queue = redis.queue('profile')
      return steps(100, () => queue.enqueue('job', 'x'))
    },
  },
  'queue-add-alone': {
    about: 'adds of one job, one at a time',
    inFlight: 1,
    prepare(redis) {
      const queue = redis.queue('profile-alone')
      return steps(1, () => queue.enqueue('job', 'x'))
    },
  },
  'queue-pair': {
    about: 'claims of a job that waits, each with the ack of the one before it, one at a time',
    inFlight: 1,
    prepare(redis) {
      const queue = redis.queue('profile-pair')
      let held: Awaited<ReturnType<typeof queue.claim>> = []
      let waiting = 0
      return steps(1, async () => {
        if (waiting === 0) waiting += (await queue.enqueueMany(JOBS)).length
        held = await queue.claim({ acks: held })
        waiting -= held.length
      })
    },
  },
  'queue-worker': {
    about: `${JOBS.length} jobs added, and as many that waited done by a worker of 50`,
    inFlight: 1,
    prepare(redis) {
      const queue = redis.queue('profile-worker')
      let [settled, wanted, done] = [0, 0, (): void => undefined]
      const onSettled = (): void => {
        settled += 1
        if (settled === wanted) done()
      }
      const ready = queue
        .enqueueMany(JOBS)
        .then(() =>
          queue.work(async ({ payload }) => (payload === 'x' ? 1 : 0), { concurrency: 50, onSettled }),
        )
      return steps(1, async () => {
        await ready
        wanted += JOBS.length
        const over = new Promise<void>((resolve) => (done = resolve))
        if (settled >= wanted) done()
        await queue.enqueueMany(JOBS)
        await over
      })
    },
  },
}

/** Those that PERILUNE_CASES names, `lock,cache`; all where it is not set. Throws where there is none of a name. */
export function wantedCases(): [name: string, each: Case][] {
  const names = process.env['PERILUNE_CASES']?.split(',') ?? Object.keys(CASES)
  return names.map((name) => {
    const each = CASES[name]
    if (each === undefined) throw new Error(`there is no case ${name}: ${Object.keys(CASES).join(', ')}`)
    return [name, each]
  })
}

function openCounters(redis: Perilune, { sqlite }: Built, name: string): Counters {
  const database = new Database(':memory:')
  database.exec('CREATE TABLE counted (id INTEGER PRIMARY KEY, value BIGINT NOT NULL)')
  return redis.counters(name, { sink: sqlite.sqlite(database, { table: 'counted' }), fsyncGrace: '0s' })
}

function steps(count: number, step: Step): Step[] {
  return Array.from({ length: count }, () => step)
}
