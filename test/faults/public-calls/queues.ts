import type { PartitionedQueue, Perilune, Queue, Recurring, JobsByToken } from 'perilune'
import { type CallsOf, type Group, gives, group } from './call.ts'

type AnyQueue = Queue | PartitionedQueue

const WAIT = { wait: '100ms' } as const
const EVERY = { every: '1m', name: 'tidy', payload: 1 } as const
const LEASES = [{ id: 'a', token: 1 }] as const
const JOBS = [
  { name: 'tidy', payload: 1 },
  { name: 'sort', payload: 2, group: 'g' },
]

const inPartitions = (redis: Perilune): PartitionedQueue => redis.queue('a', { partitions: 2 })

const ofQueue: CallsOf<AnyQueue> = {
  enqueue: (queue) => queue.enqueue('tidy', 1),
  enqueueMany: (queue) => queue.enqueueMany(JOBS),
  claim: (queue, ending) => queue.claim({ ...WAIT, ...ending }),
  claimDetached: (queue, ending) => queue.claimDetached({ ...WAIT, ...ending }),
  work: gives((queue) => queue.work(() => undefined)),
  inspect: (queue) => queue.inspect(),
  events: (queue, ending) => queue.events({ ...ending }),
  stats: (queue) => queue.stats(),
  names: (queue) => queue.names(),
  clear: (queue) => queue.clear(),
}

const ofJobs: CallsOf<Queue['jobs']> = {
  get: (jobs) => jobs.get('a'),
  getMany: (jobs) => jobs.getMany(['a', 'b']),
  getEach: (jobs) => jobs.getEach(['a']),
  getPage: (jobs) => jobs.getPage(['a', 'b']),
  history: (jobs) => jobs.history('a'),
  waitForResult: (jobs, ending) => jobs.waitForResult('a', { ...WAIT, ...ending }),
  log: (jobs) => jobs.log('a', 'line'),
  list: (jobs) => jobs.list('ready'),
  search: (jobs) => jobs.search({ name: 'tidy' }),
  tags: (jobs) => jobs.tags(),
  tag: (jobs) => jobs.tag('a', ['t']),
  untag: (jobs) => jobs.untag('a', ['t']),
  track: (jobs) => jobs.track('a'),
  untrack: (jobs) => jobs.untrack('a'),
  tracked: (jobs) => jobs.tracked(),
  cancel: (jobs) => jobs.cancel(['a', 'b']),
  dependencies: (jobs) => jobs.dependencies('a'),
  dependenciesPage: (jobs) => jobs.dependenciesPage('a'),
  addDependencies: (jobs) => jobs.addDependencies('a', ['b']),
  removeDependencies: (jobs) => jobs.removeDependencies('a', ['b']),
  requeue: (jobs) => jobs.requeue(['a', 'b']),
  reprioritize: (jobs) => jobs.reprioritize(['a', 'b'], 1),
  partitionsOf: (jobs) => jobs.partitionsOf(['a']),
}

const ofDead: CallsOf<Queue['dead']> = {
  list: (dead) => dead.list(),
  requeue: (dead) => dead.requeue('Error'),
  drop: (dead) => dead.drop('Error'),
}

const ofSettings: CallsOf<Queue['settings']> = {
  pause: (settings) => settings.pause(),
  resume: (settings) => settings.resume(),
  set: (settings) => settings.set({ concurrency: 2 }),
  pauseGroup: (settings) => settings.pauseGroup('g'),
  resumeGroup: (settings) => settings.resumeGroup('g'),
  setGroup: (settings) => settings.setGroup('g', { concurrency: 1 }),
  inspect: (settings) => settings.inspect(),
  inspectAll: (settings) => settings.inspectAll(),
}

const ofSettling: CallsOf<JobsByToken> = {
  ack: (settle) => settle.ack(LEASES),
  ackAndEnqueue: (settle) =>
    settle.ackAndEnqueue([{ id: 'a', token: 1, next: { name: 'sort', payload: 1 } }]),
  retry: (settle) => settle.retry(LEASES),
  fail: (settle) => settle.fail(LEASES),
  release: (settle) => settle.release(LEASES),
  extend: (settle) => settle.extend(LEASES),
  progress: (settle) => settle.progress(LEASES[0], 1),
  log: (settle) => settle.log(LEASES[0], 'line'),
}

const ofRecurring: CallsOf<Recurring> = {
  set: (recurring) => recurring.set('a', EVERY),
  remove: (recurring) => recurring.remove('a'),
  get: (recurring) => recurring.get('a'),
  list: (recurring) => recurring.list(),
}

export const queues: readonly Group[] = [
  group<AnyQueue>('Queue', (redis) => redis.queue('a'), ofQueue),
  group('Jobs', (redis) => redis.queue('a').jobs, ofJobs),
  group('DeadJobs', (redis) => redis.queue('a').dead, ofDead),
  group('Settings', (redis) => redis.queue('a').settings, ofSettings),
  group('JobsByToken', (redis) => redis.queue('a').byToken, ofSettling),
  group('Recurring', (redis) => redis.queue('a').recurring, ofRecurring),
  group<AnyQueue>('PartitionedQueue', inPartitions, ofQueue),
  group('Jobs', (redis) => inPartitions(redis).jobs, ofJobs, 'in partitions'),
  group('DeadJobs', (redis) => inPartitions(redis).dead, ofDead, 'in partitions'),
  group('Settings', (redis) => inPartitions(redis).settings, ofSettings, 'in partitions'),
  group('JobsByToken', (redis) => inPartitions(redis).byToken, ofSettling, 'in partitions'),
  group('Recurring', (redis) => inPartitions(redis).recurring, ofRecurring, 'in partitions'),
]
