// A command that a call of a queue meets in its middle is denied for a moment: the call is refused before anything has changed that is
// seen, or it has happened as a whole. Then every job is done once, and nothing is left that does not agree.

import type { Redis } from 'ioredis'
import type { ClaimedJob, NewJob, Queue, QueueOptions } from 'perilune'
import { expect, test } from 'vitest'
import contract from '../../lua/contract.json' with { type: 'json' }
import { audit } from '../audit/audit.ts'
import { setup } from '../denied-fixture.ts'

type Jobs = Record<string, number>
type Claimed = ClaimedJob<number>[]

interface Case {
  /** The calls whose commands are denied. */
  readonly of: readonly (keyof typeof contract.operations)[]
  readonly options?: QueueOptions
  /** What comes before; its result is given to the call. */
  prepare(queue: Queue<Jobs>): Promise<unknown>
  call(queue: Queue<Jobs>, given: never): Promise<unknown>
  /** What is done in the end, and what is dead by then. */
  readonly done: string
  readonly dead?: string
}

const passes = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const CLAIM = ['queue/ack-and-claim-plain', 'queue/ack-and-claim'] as const
const SHORT = '20ms'
const HOUR = '1h'

/** A job for each letter. */
const jobsOf = (letters: string, options: Partial<NewJob<Jobs>> = {}): NewJob<Jobs>[] =>
  letters.split('').map((name) => ({ name, payload: 1, ...options }))

const put = (queue: Queue<Jobs>, letters: string, options?: Partial<NewJob<Jobs>>): Promise<unknown> =>
  queue.enqueueMany(jobsOf(letters, options))

/** The first of them are claimed. */
async function hold(
  queue: Queue<Jobs>,
  letters: string,
  options?: Partial<NewJob<Jobs>>,
  { limit = 1, lease = HOUR }: { limit?: number; lease?: '1h' | '20ms' } = {},
): Promise<Claimed> {
  await put(queue, letters, options)
  return queue.claim({ limit, lease })
}

const NAMED = { tags: ['tag', 'other'], trace: 'trace' }

const enqueues: Record<string, Case> = {
  'an enqueue of plain jobs': {
    of: ['queue/enqueue-alike'],
    prepare: (queue) => put(queue, 'a'),
    call: (queue) => queue.enqueueMany([1, 2, 3].map((payload) => ({ name: 'b', payload }))),
    done: 'abbb',
  },
  'a first enqueue': {
    of: ['queue/enqueue-alike'],
    prepare: async () => {},
    call: (queue) => queue.enqueue('a', 1),
    done: 'a',
  },
  'an enqueue of many kinds': {
    of: ['queue/enqueue'],
    prepare: (queue) => put(queue, 'a'),
    call: (queue) =>
      queue.enqueueMany([
        ...jobsOf('b', { id: 'b' }),
        ...jobsOf('c', { delay: SHORT }),
        ...jobsOf('d', { group: 'ada' }),
        ...jobsOf('e', { priority: 3, ...NAMED }),
        ...jobsOf('f', { unique: 'key' }),
        ...jobsOf('g', { idempotencyKey: 'once' }),
      ]),
    done: 'abcdefg',
  },
  'an enqueue of delayed jobs': {
    of: ['queue/enqueue'],
    prepare: (queue) => put(queue, 'a', { id: 'a' }),
    call: (queue) => put(queue, 'bc', { delay: SHORT }),
    done: 'abc',
  },
  'an enqueue of groups': {
    of: ['queue/enqueue'],
    prepare: (queue) => put(queue, 'a', { group: 'ada' }),
    call: (queue) => put(queue, 'bc', { group: 'bob' }),
    done: 'abc',
  },
  'an enqueue that replaces': {
    of: ['queue/enqueue'],
    prepare: (queue) => put(queue, 'a', { unique: 'key', ...NAMED }),
    call: (queue) => put(queue, 'b', { unique: { key: 'key', replace: true }, delay: SHORT, tags: ['new'] }),
    done: 'b',
  },
  'an enqueue of children': {
    of: ['queue/enqueue'],
    prepare: (queue) => put(queue, 'a', { id: 'a' }),
    call: (queue) => put(queue, 'bc', { parents: ['a'], ...NAMED }),
    done: 'abc',
  },
}

const claims: Record<string, Case> = {
  'a claim of plain jobs': {
    of: CLAIM,
    prepare: (queue) => put(queue, 'aaa'),
    call: (queue) => queue.claim({ limit: 2, lease: SHORT }),
    done: 'aaa',
  },
  'a claim of two kinds': {
    of: CLAIM,
    prepare: (queue) => put(queue, 'aab'),
    call: (queue) => queue.claim({ limit: 2, lease: SHORT }),
    done: 'aab',
  },
  'a claim of jobs of all kinds': {
    of: ['queue/ack-and-claim'],
    async prepare(queue) {
      await put(queue, 'a', { priority: 1, ...NAMED })
      await put(queue, 'bc', { unique: { key: 'key', until: 'started' } })
      await put(queue, 'cd', { group: 'ada' })
      await put(queue, 'e', { group: 'bob' })
    },
    call: (queue) => queue.claim({ limit: 5, lease: SHORT }),
    done: 'abcde',
  },
  'a claim of groups with limits': {
    of: ['queue/ack-and-claim'],
    async prepare(queue) {
      await queue.settings.setGroup('ada', { concurrency: 1 })
      await queue.settings.setGroup('bob', { rate: { limit: 1, window: SHORT } })
      await put(queue, 'ab', { group: 'ada' })
      await put(queue, 'cd', { group: 'bob' })
    },
    call: (queue) => queue.claim({ limit: 5, lease: SHORT }),
    done: 'abcd',
  },
  'a claim of a queue with a rate': {
    of: ['queue/ack-and-claim'],
    async prepare(queue) {
      await queue.settings.set({ concurrency: 3, rate: { limit: 4, window: SHORT } })
      await put(queue, 'abc')
    },
    call: (queue) => queue.claim({ limit: 2, lease: SHORT }),
    done: 'abc',
  },
  'a claim of what is due': {
    of: ['queue/ack-and-claim'],
    async prepare(queue) {
      await put(queue, 'ab', { delay: '1ms' })
      await put(queue, 'c', { delay: '1ms', group: 'ada' })
      await put(queue, 'd', { delay: '1ms', priority: 2 })
      await passes(10)
    },
    call: (queue) => queue.claim({ limit: 5, lease: SHORT }),
    done: 'abcd',
  },
  'a claim behind leases that have lapsed': {
    of: ['queue/ack-and-claim'],
    async prepare(queue) {
      await hold(queue, 'abc', {}, { limit: 3, lease: SHORT })
      await passes(30)
    },
    call: (queue) => queue.claim({ limit: 2, lease: SHORT }),
    done: 'abc',
  },
  'a claim behind last leases that have lapsed': {
    of: ['queue/ack-and-claim'],
    async prepare(queue) {
      await hold(queue, 'abc', { maxAttempts: 1, group: 'ada', ...NAMED }, { limit: 3, lease: SHORT })
      await put(queue, 'd')
      await passes(30)
    },
    call: (queue) => queue.claim({ limit: 2, lease: SHORT }),
    done: 'd',
    dead: 'abc',
  },
  'a claim while jobs recur': {
    of: ['queue/ack-and-claim'],
    async prepare(queue) {
      await queue.recurring.set('again', { name: 'r', payload: 1, every: '1s', limit: 1, tags: ['tag'] })
      await put(queue, 'a', { id: 'a' })
      await passes(1010)
    },
    call: (queue) => queue.claim({ limit: 2, lease: SHORT }),
    done: 'ar',
  },
  'a claim that finds nothing and waits': {
    of: CLAIM,
    prepare: (queue) => put(queue, 'a', { delay: HOUR, id: 'a' }),
    async call(queue) {
      await queue.claim({ limit: 2, lease: SHORT, wait: '10ms' })
    },
    done: '',
  },
}

const ends: Record<string, Case> = {
  'an ack of plain jobs': {
    of: CLAIM,
    prepare: (queue) => hold(queue, 'aaa', {}, { limit: 2 }),
    call: (queue, [a, b]: Claimed) =>
      queue.settle.ack([a, b].map((job) => ({ id: job?.id ?? '', token: job?.token ?? 0 }))),
    done: 'a',
  },
  'an ack': {
    of: CLAIM,
    prepare: (queue) => hold(queue, 'abc', {}, { limit: 2 }),
    call: (queue, [a, b]: Claimed) =>
      queue.settle.ack([a, b].map((job) => ({ id: job?.id ?? '', token: job?.token ?? 0 }))),
    done: 'c',
  },
  'an ack of jobs with options': {
    of: ['queue/ack-and-claim'],
    prepare: (queue) => hold(queue, 'abc', { ...NAMED, group: 'ada', keepResult: HOUR }),
    call: (_, [a]: Claimed) => a?.ack(1) ?? Promise.reject(new Error('none')),
    done: 'bc',
  },
  'an ack whose result is kept': {
    of: ['queue/ack-and-claim'],
    async prepare(queue) {
      await queue.settings.set({ keep: { count: 1 } })
      const [a, b] = await hold(queue, 'abc', {}, { limit: 2 })
      await a?.ack(1)
      return [b]
    },
    call: (_, [b]: Claimed) => b?.ack(2) ?? Promise.reject(new Error('none')),
    done: 'c',
  },
  'an ack of a parent': {
    of: ['queue/ack-and-claim'],
    async prepare(queue) {
      await put(queue, 'a', { id: 'a' })
      await put(queue, 'bc', { parents: ['a'] })
      return queue.claim({ lease: HOUR })
    },
    call: (_, [a]: Claimed) => a?.ack(1) ?? Promise.reject(new Error('none')),
    done: 'bc',
  },
  'an ack along with a claim of plain jobs': {
    of: CLAIM,
    prepare: (queue) => hold(queue, 'a').then(async (jobs) => (await put(queue, 'aa'), jobs)),
    call: (queue, acks: Claimed) => queue.claim({ limit: 1, lease: SHORT, acks }),
    done: 'aa',
  },
  'an ack along with a claim': {
    of: CLAIM,
    prepare: (queue) => hold(queue, 'a').then(async (jobs) => (await put(queue, 'bc'), jobs)),
    call: (queue, acks: Claimed) => queue.claim({ limit: 1, lease: SHORT, acks }),
    done: 'bc',
  },
  'a retry': {
    of: ['queue/retry'],
    prepare: (queue) => hold(queue, 'abc'),
    call: (_, [a]: Claimed) => a?.retry({ delay: '0ms', kind: 'odd' }) ?? Promise.reject(new Error('none')),
    done: 'abc',
  },
  'a retry with a delay, of a group': {
    of: ['queue/retry'],
    prepare: (queue) => hold(queue, 'abc', { group: 'ada' }),
    call: (_, [a]: Claimed) => a?.retry({ delay: SHORT, kind: 'odd' }) ?? Promise.reject(new Error('none')),
    done: 'abc',
  },
  'a last retry': {
    of: ['queue/retry'],
    prepare: (queue) => hold(queue, 'abc', { maxAttempts: 1, group: 'ada', ...NAMED }),
    call: (_, [a]: Claimed) => a?.retry({ kind: 'odd' }) ?? Promise.reject(new Error('none')),
    done: 'bc',
    dead: 'a',
  },
  'a burial': {
    of: ['queue/bury'],
    prepare: (queue) => hold(queue, 'abc', { group: 'ada', ...NAMED }),
    call: (_, [a]: Claimed) => a?.bury({ kind: 'odd' }) ?? Promise.reject(new Error('none')),
    done: 'bc',
    dead: 'a',
  },
  'a burial of a parent': {
    of: ['queue/bury'],
    async prepare(queue) {
      await put(queue, 'a', { id: 'a' })
      await put(queue, 'b', { parents: ['a'] })
      await put(queue, 'c', { parents: ['a'], ifParentFails: 'cancel' })
      return queue.claim({ lease: HOUR })
    },
    call: (_, [a]: Claimed) => a?.bury({ kind: 'odd' }) ?? Promise.reject(new Error('none')),
    done: '',
    dead: 'ab',
  },
  'a release': {
    of: ['queue/release'],
    prepare: (queue) => hold(queue, 'abc'),
    call: (_, [a]: Claimed) => a?.release() ?? Promise.reject(new Error('none')),
    done: 'abc',
  },
  'a release of a group': {
    of: ['queue/release'],
    prepare: (queue) => hold(queue, 'abc', { group: 'ada' }),
    call: (_, [a]: Claimed) => a?.release({ delay: SHORT }) ?? Promise.reject(new Error('none')),
    done: 'abc',
  },
  'an extension': {
    of: ['queue/extend'],
    prepare: (queue) => hold(queue, 'abc'),
    call: (_, [a]: Claimed) => a?.extend(SHORT) ?? Promise.reject(new Error('none')),
    done: 'abc',
  },
  'an advance': {
    of: ['queue/advance'],
    prepare: (queue) => hold(queue, 'ab', { group: 'ada' }),
    call: (_, [a]: Claimed) =>
      a?.advance({ name: 'c', payload: 1 } as never) ?? Promise.reject(new Error('none')),
    done: 'bc',
  },
}

const changes: Record<string, Case> = {
  'a cancel': {
    of: ['queue/cancel'],
    async prepare(queue) {
      await put(queue, 'a', { id: 'a', ...NAMED })
      await put(queue, 'b', { id: 'b', delay: HOUR })
      await put(queue, 'c', { id: 'c', group: 'ada' })
      await put(queue, 'd', { id: 'd', parents: ['b'] })
      await put(queue, 'e', { id: 'e', priority: 2 })
      await put(queue, 'f', { id: 'f' })
    },
    call: (queue) => queue.jobs.cancel(['a', 'b', 'c', 'd', 'e']),
    done: 'f',
  },
  'a requeue': {
    of: ['queue/requeue'],
    async prepare(queue) {
      for (const job of await hold(queue, 'ab', {}, { limit: 2 })) await job.bury({ kind: 'odd' })
      await put(queue, 'c', { id: 'c', delay: HOUR })
      return (await queue.jobs.list('dead')).jobs.map(({ id }) => id)
    },
    call: (queue, ids: string[]) => queue.jobs.requeue([...ids, 'c']),
    done: 'abc',
  },
  'a requeue of what failed': {
    of: ['queue/requeue-failed'],
    async prepare(queue) {
      for (const job of await hold(queue, 'ab', {}, { limit: 2 })) await job.bury({ kind: 'odd' })
      for (const job of await hold(queue, 'c', { group: 'ada' })) await job.bury({ kind: 'odd' })
    },
    call: (queue) => queue.jobs.requeueFailed('odd'),
    done: 'abc',
  },
  'another priority': {
    of: ['queue/reprioritize'],
    async prepare(queue) {
      await put(queue, 'a', { id: 'a' })
      await put(queue, 'b', { id: 'b', group: 'ada' })
      await put(queue, 'c', { id: 'c', priority: 3 })
    },
    call: (queue) => queue.jobs.reprioritize(['a', 'b', 'c'], 7),
    done: 'abc',
  },
  'more parents': {
    of: ['queue/change-parents'],
    async prepare(queue) {
      await put(queue, 'a', { id: 'a' })
      await put(queue, 'b', { id: 'b' })
      await put(queue, 'c', { id: 'c', parents: ['a'] })
    },
    call: (queue) => queue.jobs.addParents('c', ['b']),
    done: 'abc',
  },
  'fewer parents': {
    of: ['queue/change-parents'],
    async prepare(queue) {
      await put(queue, 'a', { id: 'a' })
      await put(queue, 'c', { id: 'c', parents: ['a'] })
    },
    call: (queue) => queue.jobs.removeParents('c', ['a']),
    done: 'ac',
  },
  'a job that recurs': {
    of: ['queue/recur', 'queue/refill'],
    prepare: (queue) => put(queue, 'a'),
    call: (queue) => queue.recurring.set('again', { name: 'r', payload: 1, cron: '0 0 1 1 *' }),
    done: 'a',
  },
  'a job that recurs no more': {
    of: ['queue/unrecur'],
    async prepare(queue) {
      await put(queue, 'a')
      await queue.recurring.set('again', { name: 'r', payload: 1, cron: '0 0 1 1 *' })
    },
    call: (queue) => queue.recurring.remove('again'),
    done: 'a',
  },
  settings: {
    of: ['queue/configure', 'queue/configure-group'],
    prepare: (queue) => put(queue, 'ab', { group: 'ada' }),
    async call(queue) {
      await queue.settings.set({ concurrency: 5, rate: { limit: 100, window: '1s' } })
      await queue.settings.setGroup('ada', { concurrency: 5, rate: { limit: 100, window: '1s' } })
    },
    done: 'ab',
  },
  tags: {
    of: ['queue/tag', 'queue/track'],
    prepare: (queue) => put(queue, 'a', { id: 'a', tags: ['old'] }),
    call: (queue) => queue.jobs.tag('a', ['new']),
    done: 'a',
  },
  'a clear': {
    of: ['queue/clear'],
    async prepare(queue) {
      await put(queue, 'a', { id: 'a', ...NAMED })
      await put(queue, 'bc', { group: 'ada' })
    },
    call: (queue) => queue.clear(),
    done: '',
  },
}

const cases: Record<string, Case> = { ...claims, ...ends, ...enqueues, ...changes }

/** The commands of a script, as its text has them. */
function commandsOf(operations: Case['of']): string[] {
  const texts = operations.map((operation) => contract.operations[operation].source)
  const found = texts.flatMap((text) => [...text.matchAll(/redis\.p?call\(\s*'([A-Z]+)'/g)])
  return [...new Set(found.map(([, name = '']) => name.toLowerCase()))].toSorted()
}

test.each(Object.entries(cases))('%s is done as a whole, or not at all', async (_, asked) => {
  const { redis, name, admin, without } = await setup()
  const wrong: unknown[] = []
  for (const command of commandsOf(asked.of)) {
    const queue = redis.queue<Jobs>(`${name} ${command}`, asked.options)
    const given = (await asked.prepare(queue)) as never
    const before = await seen(queue)

    if (await without(command, () => asked.call(queue, given))) {
      const after = await seen(queue)
      if (String(after) !== String(before)) wrong.push([command, 'changed', before.join(), after.join()])
      await asked.call(queue, given)
    }

    const met = await workOn(queue, asked.done.length).catch((error: unknown) => [String(error)])
    const dead = (await queue.jobs.list('dead')).jobs.map((job) => job.name)
    const expected = [asked.done, asked.dead ?? ''].join('/')
    const found = [met.toSorted().join(''), dead.toSorted().join('')].join('/')
    if (found !== expected) wrong.push([command, 'done', found])
    await cancelAll(queue)
    const left = (await seen(queue)).slice(0, 6)
    if (left.some((count) => count > 0)) wrong.push([command, 'left', left.join()])
    await faultsOf(admin).then((faults) => wrong.push(...faults.map((fault) => [command, fault])))
    await queue.clear()
  }
  expect(wrong).toEqual([])
})

async function seen(queue: Queue<Jobs>): Promise<number[]> {
  const told = await queue.settings.inspect()
  const states = [told.ready, told.scheduled, told.blocked, told.claimed, told.dead, told.done]
  return [...states, told.enqueued, told.acked, told.retried, told.buried, told.reclaimed, told.cancelled]
}

/** Does all there is to do. What is held by the call that is looked at, lapses. */
async function workOn(queue: Queue<Jobs>, count: number): Promise<string[]> {
  const met: string[] = []
  for (let round = 0; round < 40; round += 1) {
    const jobs = await queue.claim({ limit: 10, lease: HOUR })
    for (const job of jobs) await job.ack()
    met.push(...jobs.map((job) => job.name))
    if (jobs.length === 0 && met.length >= count) return met
    if (jobs.length === 0) await passes(5)
  }
  return met
}

async function cancelAll(queue: Queue<Jobs>): Promise<void> {
  for (const state of ['dead', 'done', 'scheduled'] as const) {
    const { jobs } = await queue.jobs.list(state)
    if (jobs.length > 0) await queue.jobs.cancel(jobs.map(({ id }) => id))
  }
}

async function faultsOf(admin: Redis): Promise<string[]> {
  return (await audit(admin, 'perilune')).map((fault) => fault.replace(/^.*?: /, ''))
}
