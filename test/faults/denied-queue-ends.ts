// Calls that end jobs of a queue, or change them; see denied-queue-calls.ts.

import type { ClaimedJob } from 'perilune'
import { expect } from 'vitest'
import {
  type Case,
  CLAIM,
  type Claimed,
  hold,
  HOUR,
  NAMED,
  passes,
  put,
  SHORT,
} from './denied-queue-calls.ts'

/** The first of the held jobs. */
function first([job]: Claimed): ClaimedJob<number> {
  return job ?? expect.fail('nothing was claimed')
}

export const ends: Record<string, Case> = {
  'an ack of plain jobs': {
    of: CLAIM,
    prepare: (queue) => hold(queue, 'aaa', {}, { limit: 2 }),
    call: (queue, [a, b]: Claimed) =>
      queue.byToken.ack([a, b].map((job) => ({ id: job?.id ?? '', token: job?.token ?? 0 }))),
    done: 'a',
  },
  'an ack': {
    of: CLAIM,
    prepare: (queue) => hold(queue, 'abc', {}, { limit: 2 }),
    call: (queue, [a, b]: Claimed) =>
      queue.byToken.ack([a, b].map((job) => ({ id: job?.id ?? '', token: job?.token ?? 0 }))),
    done: 'c',
  },
  'an ack of jobs with options': {
    of: ['queue/ack-and-claim'],
    prepare: (queue) => hold(queue, 'abc', { ...NAMED, group: 'ada', resultTtl: HOUR }),
    call: (_, jobs: Claimed) => first(jobs).ack(1),
    done: 'bc',
  },
  'an ack whose result is kept': {
    of: ['queue/ack-and-claim'],
    async prepare(queue) {
      await queue.settings.set({ retention: { count: 1 } })
      const [a, b] = await hold(queue, 'abc', {}, { limit: 2 })
      await a?.ack(1)
      return [b]
    },
    call: (_, jobs: Claimed) => first(jobs).ack(2),
    done: 'c',
  },
  'an ack of a dependency': {
    of: ['queue/ack-and-claim'],
    async prepare(queue) {
      await put(queue, 'a', { id: 'a' })
      await put(queue, 'bc', { dependsOn: ['a'] })
      return queue.claim({ lease: HOUR })
    },
    call: (_, jobs: Claimed) => first(jobs).ack(1),
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
  'an ack along with a claim of a job that is unique until it starts': {
    of: ['queue/ack-and-claim'],
    async prepare(queue) {
      const jobs = await hold(queue, 'a')
      await put(queue, 'b', { unique: { key: 'key', until: 'started' } })
      return jobs
    },
    call: (queue, acks: Claimed) => queue.claim({ limit: 1, lease: SHORT, acks }),
    done: 'b',
  },
  'an ack along with a claim of one that came back, beside a priority': {
    of: ['queue/ack-and-claim'],
    async prepare(queue) {
      const [a, b] = await hold(queue, 'abc', {}, { limit: 2 })
      await b?.release()
      await put(queue, 'd', { priority: -1 })
      return [a]
    },
    call: (queue, acks: Claimed) => queue.claim({ limit: 1, lease: SHORT, acks }),
    done: 'bcd',
  },
  'an ack of a dependency along with a claim of its dependent, of a group': {
    of: ['queue/ack-and-claim'],
    async prepare(queue) {
      await put(queue, 'a', { id: 'a' })
      await put(queue, 'b', { dependsOn: ['a'], group: 'ada' })
      return queue.claim({ lease: HOUR })
    },
    call: (queue, acks: Claimed) => queue.claim({ limit: 1, lease: SHORT, acks }),
    done: 'b',
  },
  'an ack along with a claim of a job that stands twice in the list': {
    of: ['queue/ack-and-claim'],
    async prepare(queue) {
      const jobs = await hold(queue, 'a')
      const unique = { key: 'key', replace: true }
      await put(queue, 'b')
      await put(queue, 'c', { unique })
      await put(queue, 'c', { unique, delay: SHORT })
      await passes(30)
      return [...jobs, ...(await queue.claim({ lease: HOUR }))]
    },
    call: (queue, acks: Claimed) => queue.claim({ limit: 2, lease: SHORT, acks }),
    done: 'c',
  },
  'a retry': {
    of: ['queue/retry'],
    prepare: (queue) => hold(queue, 'abc'),
    call: (_, jobs: Claimed) => first(jobs).retry({ delay: '0ms', kind: 'odd' }),
    done: 'abc',
  },
  'a retry with a delay, of a group': {
    of: ['queue/retry'],
    prepare: (queue) => hold(queue, 'abc', { group: 'ada' }),
    call: (_, jobs: Claimed) => first(jobs).retry({ delay: SHORT, kind: 'odd' }),
    done: 'abc',
  },
  'a last retry': {
    of: ['queue/retry'],
    prepare: (queue) => hold(queue, 'abc', { maxAttempts: 1, group: 'ada', ...NAMED }),
    call: (_, jobs: Claimed) => first(jobs).retry({ kind: 'odd' }),
    done: 'bc',
    dead: 'a',
  },
  'a failure': {
    of: ['queue/fail'],
    prepare: (queue) => hold(queue, 'abc', { group: 'ada', ...NAMED }),
    call: (_, jobs: Claimed) => first(jobs).fail({ kind: 'odd' }),
    done: 'bc',
    dead: 'a',
  },
  'a failure of a dependency': {
    of: ['queue/fail'],
    async prepare(queue) {
      await put(queue, 'a', { id: 'a' })
      await put(queue, 'b', { dependsOn: ['a'] })
      await put(queue, 'c', { dependsOn: ['a'], onDependencyFailure: 'cancel' })
      return queue.claim({ lease: HOUR })
    },
    call: (_, jobs: Claimed) => first(jobs).fail({ kind: 'odd' }),
    done: '',
    dead: 'ab',
  },
  'a release': {
    of: ['queue/release'],
    prepare: (queue) => hold(queue, 'abc'),
    call: (_, jobs: Claimed) => first(jobs).release(),
    done: 'abc',
  },
  'a release of a group': {
    of: ['queue/release'],
    prepare: (queue) => hold(queue, 'abc', { group: 'ada' }),
    call: (_, jobs: Claimed) => first(jobs).release({ delay: SHORT }),
    done: 'abc',
  },
  'an extension': {
    of: ['queue/extend'],
    prepare: (queue) => hold(queue, 'abc'),
    call: (_, jobs: Claimed) => first(jobs).extend(SHORT),
    done: 'abc',
  },
  'an advance': {
    of: ['queue/ack-and-enqueue'],
    prepare: (queue) => hold(queue, 'ab', { group: 'ada' }),
    call: (_, jobs: Claimed) => first(jobs).ackAndEnqueue({ name: 'c', payload: 1 }),
    done: 'bc',
  },
}

export const changes: Record<string, Case> = {
  'a cancel': {
    of: ['queue/cancel'],
    async prepare(queue) {
      await put(queue, 'a', { id: 'a', ...NAMED })
      await put(queue, 'b', { id: 'b', delay: HOUR })
      await put(queue, 'c', { id: 'c', group: 'ada' })
      await put(queue, 'd', { id: 'd', dependsOn: ['b'] })
      await put(queue, 'e', { id: 'e', priority: 2 })
      await put(queue, 'f', { id: 'f' })
    },
    call: (queue) => queue.jobs.cancel(['a', 'b', 'c', 'd', 'e']),
    done: 'f',
  },
  'a requeue': {
    of: ['queue/requeue'],
    async prepare(queue) {
      for (const job of await hold(queue, 'ab', {}, { limit: 2 })) await job.fail({ kind: 'odd' })
      await put(queue, 'c', { id: 'c', delay: HOUR })
      return (await queue.jobs.list('dead')).jobs.map(({ id }) => id)
    },
    call: (queue, ids: string[]) => queue.jobs.requeue([...ids, 'c']),
    done: 'abc',
  },
  'a requeue of what failed': {
    of: ['queue/requeue-dead'],
    async prepare(queue) {
      for (const job of await hold(queue, 'ab', {}, { limit: 2 })) await job.fail({ kind: 'odd' })
      for (const job of await hold(queue, 'c', { group: 'ada' })) await job.fail({ kind: 'odd' })
    },
    call: (queue) => queue.dead.requeue('odd'),
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
  'more dependencies': {
    of: ['queue/change-dependencies'],
    async prepare(queue) {
      await put(queue, 'a', { id: 'a' })
      await put(queue, 'b', { id: 'b' })
      await put(queue, 'c', { id: 'c', dependsOn: ['a'] })
    },
    call: (queue) => queue.jobs.addDependencies('c', ['b']),
    done: 'abc',
  },
  'fewer dependencies': {
    of: ['queue/change-dependencies'],
    async prepare(queue) {
      await put(queue, 'a', { id: 'a' })
      await put(queue, 'c', { id: 'c', dependsOn: ['a'] })
    },
    call: (queue) => queue.jobs.removeDependencies('c', ['a']),
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
