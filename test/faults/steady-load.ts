// One kind of load for each structure, with all that it has to forget again. Each is one step, called again and again
// with the number of calls before it.

import Database from 'libsql'
import { LeaseLostError, type Perilune } from 'perilune'
import { sqlite } from 'perilune/sqlite'

export interface Load {
  readonly what: string
  step(at: number): Promise<unknown>
}

export type Table = Database.Database

const LARGE = 40 * 1024
const COUNTED = 20_000

export function openTable(): Table {
  const database = new Database(':memory:')
  database.exec('CREATE TABLE votes (id INTEGER PRIMARY KEY, value BIGINT NOT NULL)')
  return database
}

export function feedLoads(redis: Perilune): Load[] {
  const kept = redis.feed<string>('kept', { retention: 500 })
  const forgetful = { ttl: '20s', idempotencyTtl: '20s' } as const
  const expiring = redis.feed<string>('expiring', forgetful)
  const small = redis.feed<string>('small', { retention: { bytes: 200_000 } })
  const young = redis.feed<string>('young', { retention: { age: '20s' } })
  const spread = redis.feed<string>('spread', { retention: 500, partitions: 4 })
  const later = redis.feed<string>('later', forgetful)
  const worked = redis.feed<string>('worked', { ...forgetful, maxClaims: 2, deadLettersTtl: '10s' })
  const idempotencyKey = (at: number): string => `key ${at}`
  return [
    { what: 'feed that keeps 500', step: (at) => kept.append(body(at)) },
    { what: 'feed that keeps 200,000 bytes', step: (at) => small.append(body(at)) },
    { what: 'feed that keeps 20 seconds', step: (at) => young.append(body(at)) },
    { what: 'feed in partitions', step: (at) => spread.append(body(at), { key: `key ${at % 40}` }) },
    {
      what: 'feed of delayed messages',
      step: (at) => later.append(body(at), { delay: `${at % 5}s` }),
    },
    {
      what: 'feed that expires',
      step: (at) => expiring.append(body(at), { idempotencyKey: idempotencyKey(at) }),
    },
    {
      what: 'feed that is worked on, in part in vain',
      async step(at) {
        await worked.append(body(at), { idempotencyKey: idempotencyKey(at) })
        const claim = await worked.claim({ limit: 10, lease: '500ms' })
        const done = claim?.messages.filter((_, place) => (at + place) % 10 !== 0) ?? []
        if (done.length > 0) await claim?.ack(done.map(({ id }) => id))
      },
    },
  ]
}

/** For a clock that is faster than ours: idempotency keys of a queue are remembered for a day. */
export function queueLoads(redis: Perilune): Load[] {
  const queue = redis.queue<{ mail: string }>('mails')
  return [
    {
      what: 'queue',
      async step(at) {
        if (at === 0) await queue.settings.set({ retention: { count: 200 } })
        const unique = { key: `unique ${at}`, for: '1h' } as const
        const named = { id: `mail-${at}`, group: `group ${at % 7}` }
        const options = [{}, { unique }, { idempotencyKey: `once ${at}` }, named][at % 4]
        const { id } = await queue.enqueue('mail', body(at), { ...options, tags: ['mail'], resultTtl: '1h' })
        if (at % 10 === 0) await queue.jobs.cancel([id])
      },
    },
    {
      what: 'worker',
      async step(at) {
        const [job] = await queue.claim({ limit: 1, lease: '1h' })
        const isDead = at % 20 === 0
        const settling = isDead ? job?.fail({ message: 'in vain' }) : job?.ack('done')
        // It may have been cancelled meanwhile.
        await settling?.catch((error: unknown) => {
          if (!(error instanceof LeaseLostError)) throw error
        })
        if (isDead && job !== undefined) await queue.jobs.cancel([job.id])
      },
    },
  ]
}

/** Jobs of all partitions, each of which begins somewhat later. */
export function spreadLoad(redis: Perilune): Load {
  const queue = redis.queue<{ mail: string }>('spread', { partitions: 4 })
  return {
    what: 'queue in partitions',
    async step(at) {
      if (at === 0) await queue.settings.set({ retention: { count: 200 } })
      await queue.enqueue('mail', body(at), { delay: `${at % 3}s`, tags: ['mail'] })
      for (const job of await queue.claim({ limit: 2, lease: '10s' })) await job.ack('done')
    },
  }
}

export function otherLoads(redis: Perilune, table: Table): Load[] {
  const cache = redis.cache<string>('pages', { ttl: '10s', staleWhileRevalidate: '10s' })
  const index = redis.autocomplete<number>('titles')
  const once = redis.once<string>('orders', { resultTtl: '20s' })
  const limit = redis.rateLimit('visitors', { limit: 10, window: '10s' })
  const counters = redis.counters('votes', {
    sink: sqlite(table, { table: 'votes' }),
    retention: '20s',
    idempotencyTtl: '20s',
    fsyncGrace: '0s',
  })
  return [
    {
      what: 'cache',
      step: (at) => cache.get(`page ${at}`, async () => body(at), { tags: [`tag ${at % 100}`] }),
    },
    {
      what: 'autocomplete',
      step: (at) => index.add(`title ${at} of many words`, { score: at % 100, ttl: '20s' }),
    },
    { what: 'once', step: (at) => once.run(`order ${at}`, async () => 'done') },
    { what: 'rate limit', step: (at) => limit.take(`visitor ${at}`) },
    {
      what: 'counters',
      step: (at) => counters.increment(at % COUNTED, 1, { idempotencyKey: `vote ${at}` }),
    },
    { what: 'flush of counters', step: () => counters.flush() },
  ]
}

/** One of fifty is large. */
function body(at: number): string {
  return 'x'.repeat(at % 50 === 0 ? LARGE : 20 + (at % 200))
}
