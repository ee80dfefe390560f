import type { PartitionedQueue, Perilune, Queue, Recurring, SettlingByToken } from 'perilune'
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
  lend: (queue, ending) => queue.lend({ ...WAIT, ...ending }),
  work: gives((queue) => queue.work(() => undefined)),
  inspect: (queue) => queue.inspect(),
  events: (queue, ending) => queue.events({ ...ending }),
  stats: (queue) => queue.stats(),
  names: (queue) => queue.names(),
  clear: (queue) => queue.clear(),
}

const ofJobs: CallsOf<Queue['jobs']> = {
  find: (jobs) => jobs.find('a'),
  findMany: (jobs) => jobs.findMany(['a', 'b']),
  findEach: (jobs) => jobs.findEach(['a']),
  findPage: (jobs) => jobs.findPage(['a', 'b']),
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
  parents: (jobs) => jobs.parents('a'),
  parentsPage: (jobs) => jobs.parentsPage('a'),
  addParents: (jobs) => jobs.addParents('a', ['b']),
  removeParents: (jobs) => jobs.removeParents('a', ['b']),
  requeue: (jobs) => jobs.requeue(['a', 'b']),
  reprioritize: (jobs) => jobs.reprioritize(['a', 'b'], 1),
  failures: (jobs) => jobs.failures(),
  requeueFailed: (jobs) => jobs.requeueFailed('Error'),
  dropFailed: (jobs) => jobs.dropFailed('Error'),
  partitionsOf: (jobs) => jobs.partitionsOf(['a']),
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

const ofSettling: CallsOf<SettlingByToken> = {
  ack: (settle) => settle.ack(LEASES),
  advance: (settle) => settle.advance([{ id: 'a', token: 1, next: { name: 'sort', payload: 1 } }]),
  retry: (settle) => settle.retry(LEASES),
  bury: (settle) => settle.bury(LEASES),
  release: (settle) => settle.release(LEASES),
  extend: (settle) => settle.extend(LEASES),
  progress: (settle) => settle.progress(LEASES[0], 1),
  log: (settle) => settle.log(LEASES[0], 'line'),
}

const ofRecurring: CallsOf<Recurring> = {
  set: (recurring) => recurring.set('a', EVERY),
  remove: (recurring) => recurring.remove('a'),
  find: (recurring) => recurring.find('a'),
  list: (recurring) => recurring.list(),
}

export const queues: readonly Group[] = [
  group<AnyQueue>('Queue', (redis) => redis.queue('a'), ofQueue),
  group('Jobs', (redis) => redis.queue('a').jobs, ofJobs),
  group('Settings', (redis) => redis.queue('a').settings, ofSettings),
  group('SettlingByToken', (redis) => redis.queue('a').settle, ofSettling),
  group('Recurring', (redis) => redis.queue('a').recurring, ofRecurring),
  group<AnyQueue>('PartitionedQueue', inPartitions, ofQueue),
  group('Jobs', (redis) => inPartitions(redis).jobs, ofJobs, 'in partitions'),
  group('Settings', (redis) => inPartitions(redis).settings, ofSettings, 'in partitions'),
  group('SettlingByToken', (redis) => inPartitions(redis).settle, ofSettling, 'in partitions'),
  group('Recurring', (redis) => inPartitions(redis).recurring, ofRecurring, 'in partitions'),
]
