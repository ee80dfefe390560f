// Calls of a queue, each with its preparation and the final result; see denied-midway-queue.test.ts.

import type { ClaimedJob, NewJob, Queue, QueueOptions } from 'perilune'
import type contract from '../../lua/contract.json'

export type Jobs = Record<string, number>
export type Claimed = ClaimedJob<number>[]

export interface Case {
  /** The calls whose commands are denied. */
  readonly of: readonly (keyof typeof contract.operations)[]
  readonly options?: QueueOptions
  /** The preparation; its result is passed to the call. */
  prepare(queue: Queue<Jobs>): Promise<unknown>
  call(queue: Queue<Jobs>, given: never): Promise<unknown>
  /** Which jobs are done in the end, and which are dead by then. */
  readonly done: string
  readonly dead?: string
}

export const passes = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
export const CLAIM = ['queue/ack-and-claim-plain', 'queue/ack-and-claim'] as const
export const SHORT = '20ms'
export const HOUR = '1h'

/** A job for each letter. */
export const jobsOf = (letters: string, options: Partial<NewJob<Jobs>> = {}): NewJob<Jobs>[] =>
  letters.split('').map((name) => ({ name, payload: 1, ...options }))

export const put = (queue: Queue<Jobs>, letters: string, options?: Partial<NewJob<Jobs>>): Promise<unknown> =>
  queue.enqueueMany(jobsOf(letters, options))

/** The first of them are claimed. */
export async function hold(
  queue: Queue<Jobs>,
  letters: string,
  options?: Partial<NewJob<Jobs>>,
  { limit = 1, lease = HOUR }: { limit?: number; lease?: '1h' | '20ms' } = {},
): Promise<Claimed> {
  await put(queue, letters, options)
  return queue.claim({ limit, lease })
}

export const NAMED: Partial<NewJob<Jobs>> = { tags: ['tag', 'other'], trace: 'trace' }

export const enqueues: Record<string, Case> = {
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
    call: (queue) => put(queue, 'bc', { dependsOn: ['a'], ...NAMED }),
    done: 'abc',
  },
}

export const claims: Record<string, Case> = {
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
