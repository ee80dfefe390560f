// Works on the largest payloads: what a call reads or answers is bounded in bytes, too. The size is how many there are, a
// mebibyte each.

import type { ClaimedJob, Feed, Queue } from 'perilune'
import type { Place } from '../../test/faults/uses/use.ts'
import type { CostWork } from './cost-work.ts'

type Jobs = Record<string, string>

const MIB = 'x'.repeat(1_048_000)
const LEASE = '1h'

const queueOf = ({ redis, name }: Place): Queue<Jobs> => redis.queue<Jobs>(name)
const feedOf = ({ redis, name }: Place): Feed<string> => redis.feed<string>(name, { maxClaims: 3 })
const counted = (size: number): number[] => Array.from({ length: size }, (_, at) => at)

async function enqueue(queue: Queue<Jobs>, size: number): Promise<string[]> {
  const ids: string[] = []
  for (const at of counted(size)) ids.push((await queue.enqueue('large', MIB, { id: `job ${at}` })).id)
  return ids
}

async function claimAll(queue: Queue<Jobs>, size: number): Promise<ClaimedJob<string>[]> {
  const claimed: ClaimedJob<string>[] = []
  while (claimed.length < size) claimed.push(...(await queue.claim({ limit: 200, lease: LEASE })))
  return claimed
}

function ofQueue(
  what: string,
  fill: (queue: Queue<Jobs>, size: number) => Promise<unknown>,
  call: (queue: Queue<Jobs>, ids: string[]) => unknown,
): CostWork {
  return {
    structure: 'queue',
    what,
    prepare: async (place, size) => {
      const queue = queueOf(place)
      await queue.settings.set({ retention: { count: 1000 } })
      await fill(queue, size)
      return async () =>
        call(
          queue,
          counted(size).map((at) => `job ${at}`),
        )
    },
  }
}

const waiting = enqueue
const claimed = async (queue: Queue<Jobs>, size: number): Promise<unknown> => {
  await enqueue(queue, size)
  return claimAll(queue, size)
}
const dead = async (queue: Queue<Jobs>, size: number): Promise<void> => {
  await enqueue(queue, size)
  for (const job of await claimAll(queue, size)) await job.fail({ kind: 'odd', message: 'm' })
}
/** With results as large as a payload may be. */
const done = async (queue: Queue<Jobs>, size: number): Promise<void> => {
  for (const at of counted(size)) {
    await queue.enqueue('large', 'small', { id: `job ${at}`, resultTtl: '1h' })
  }
  for (const job of await claimAll(queue, size)) await job.ack(MIB)
}
const doneDependencies = async (queue: Queue<Jobs>, size: number): Promise<void> => {
  await done(queue, size)
  const dependencies = counted(Math.min(size, 100)).map((at) => `job ${at}`)
  await queue.enqueue('dependent', 'small', { id: 'dependent', dependsOn: dependencies })
}
const recurring = async (queue: Queue<Jobs>, size: number): Promise<void> => {
  for (const at of counted(size)) {
    await queue.recurring.set(`often ${at}`, { name: 'large', payload: MIB, every: '1h' })
  }
}

const queueWorks: CostWork[] = [
  ofQueue('a claim of two hundred', waiting, (queue) => queue.claim({ limit: 200, lease: LEASE })),
  ofQueue('a look at all', waiting, (queue, ids) => queue.jobs.getMany(ids)),
  ofQueue('a page of a thousand', waiting, (queue) => queue.jobs.list('ready', { limit: 1000 })),
  ofQueue('a search', waiting, (queue) => queue.jobs.search({ name: 'large', limit: 1000 })),
  ofQueue('a search among results', done, (queue) => queue.jobs.search({ name: 'large', limit: 1000 })),
  ofQueue('a page of those that are done', done, (queue) => queue.jobs.list('done', { limit: 1000 })),
  ofQueue('all results of dependencies', doneDependencies, (queue) => queue.jobs.dependencies('dependent')),
  ofQueue('a job whose dependencies are done', done, (queue, ids) =>
    queue.enqueue('dependent', 'small', { id: 'dependent', dependsOn: ids.slice(0, 100) }),
  ),
  ofQueue('a cancellation of all', waiting, (queue, ids) => queue.jobs.cancel(ids)),
  ofQueue('a requeue of all dead', dead, (queue, ids) => queue.jobs.requeue(ids)),
  ofQueue('a requeue of a kind', dead, (queue) => queue.dead.requeue('odd')),
  ofQueue('dropping a kind', dead, (queue) => queue.dead.drop('odd')),
  ofQueue('a page of recurring jobs', recurring, (queue) => queue.recurring.list({ limit: 1000 })),
  ofQueue('clearing', claimed, (queue) => queue.clear()),
]

function ofFeed(
  what: string,
  call: (feed: Feed<string>, ids: string[]) => unknown,
  options: { delay?: '1h' } = {},
): CostWork {
  return {
    structure: 'feed',
    what,
    prepare: async (place, size) => {
      const feed = feedOf(place)
      const ids: string[] = []
      for (const _ of counted(size)) ids.push((await feed.append(MIB, options)).id)
      return async () => call(feed, ids)
    },
  }
}

const feedWorks: CostWork[] = [
  ofFeed('an append', (feed) => feed.append(MIB)),
  ofFeed('a page of a thousand', (feed) => feed.read({ limit: 1000 })),
  ofFeed('a look at all', (feed, ids) => feed.get(ids)),
  ofFeed('a claim', (feed) => feed.claim({ limit: 100, lease: LEASE })),
  ofFeed('a take', (feed) => feed.pop({ limit: 100 })),
  ofFeed('a removal of all', (feed, ids) => feed.remove(ids)),
  ofFeed('an inspection', (feed) => feed.inspect()),
  ofFeed('clearing', (feed) => feed.clear()),
  ofFeed('clearing of delayed ones', (feed) => feed.clear(), { delay: '1h' }),
]

const otherWorks: CostWork[] = [
  {
    structure: 'collection',
    what: 'a read of a list',
    prepare: async ({ redis, name }, size) => {
      const list = redis.collection<string>(name, { kind: 'list', ttl: '1h' })
      for (const _ of counted(size)) await list.append([MIB])
      return () => list.read({ limit: 1000 })
    },
  },
  {
    structure: 'cache',
    what: 'storing a value',
    prepare: async ({ redis, name }, size) => {
      const cache = redis.cache<string>(name, { ttl: '1h' })
      for (const at of counted(size)) await cache.set(`key ${at}`, MIB)
      return () => cache.set('one more', MIB)
    },
  },
  {
    structure: 'once',
    what: 'a result that is kept',
    prepare: async ({ redis, name }, size) => {
      const once = redis.once<string>(name)
      for (const at of counted(size)) await once.run(`key ${at}`, async () => MIB)
      return () => once.run('key 0', async () => '')
    },
  },
]

export const largeWorks: readonly CostWork[] = [...queueWorks, ...feedWorks, ...otherWorks]
