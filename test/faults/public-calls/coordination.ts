import type {
  Election,
  Fenced,
  LeasesByToken,
  LockAccess,
  LockSet,
  Once,
  Perilune,
  RateLimit,
  Semaphore,
} from 'perilune'
import { type CallsOf, type Group, gives, group } from './call.ts'

const WAIT = { wait: '100ms' } as const
const task = (): string => 'done'

const lockAccess: CallsOf<LockAccess> = {
  tryAcquire: (lock) => lock.tryAcquire(),
  acquire: (lock, ending) => lock.acquire({ ...WAIT, ...ending }),
  run: (lock, ending) => lock.run(task, { ...WAIT, ...ending }),
  acquireDetached: (lock, ending) => lock.acquireDetached({ ...WAIT, ...ending }),
  stand: (lock, ending) => lock.stand({ ...WAIT, ...ending }),
  abandon: (lock) => lock.abandon('ada'),
  keep: gives((lock) => lock.keep({ token: 1, expiresAtMs: 0, askedAt: 0, endsAt: 0 })),
}

const locks: readonly Group[] = [
  group('Lock', (redis) => redis.lock('a'), {
    ...lockAccess,
    inspect: (lock) => lock.inspect(),
    clear: (lock) => lock.clear(),
  }),
  group('LockAccess', (redis) => redis.lock('a').shared, lockAccess),
  group<LockSet>('LockSet', (redis) => redis.locks(['a', 'b']), {
    tryAcquire: (set) => set.tryAcquire(),
    acquire: (set, ending) => set.acquire({ ...WAIT, ...ending }),
    run: (set, ending) => set.run(task, { ...WAIT, ...ending }),
  }),
  group<LockSet>(
    'LockSet',
    (redis) => redis.locks(['a', 'b'], { group: 'g' }),
    {
      tryAcquire: (set) => set.tryAcquire(),
      acquire: (set, ending) => set.acquire({ ...WAIT, ...ending }),
      run: (set, ending) => set.run(task, { ...WAIT, ...ending }),
    },
    'of a group',
  ),
  group<Election>('Election', (redis) => redis.election('a'), {
    campaign: gives((election) => election.campaign(() => undefined)),
    leader: (election) => election.leader(),
  }),
  group<Fenced<unknown>>('Fenced', (redis) => redis.fenced('a'), {
    set: (fenced) => fenced.set(1, 1),
    get: (fenced) => fenced.get(),
  }),
]

const barging: Group = group(
  'Lock',
  (redis) => redis.lock('a', { fair: false }),
  {
    ...lockAccess,
    inspect: (lock) => lock.inspect(),
    clear: (lock) => lock.clear(),
  },
  'barging',
)

const semaphore: Group = group<Semaphore>('Semaphore', (redis) => redis.semaphore('a', { limit: 1 }), {
  tryAcquire: (each) => each.tryAcquire(),
  acquire: (each, ending) => each.acquire({ ...WAIT, ...ending }),
  run: (each, ending) => each.run(task, { ...WAIT, ...ending }),
  acquireDetached: (each, ending) => each.acquireDetached({ ...WAIT, ...ending }),
  resize: (each) => each.resize(1),
  inspect: (each) => each.inspect(),
  clear: (each) => each.clear(),
})

const once: Group = group<Once<unknown>>('Once', (redis) => redis.once('a'), {
  run: (each, ending) => each.run('k', task, { ...WAIT, ...ending }),
  begin: (each) => each.begin('k'),
  beginDetached: (each, ending) => each.beginDetached('k', { ...WAIT, ...ending }),
  get: (each) => each.get('k'),
  inspect: (each) => each.inspect('k'),
  clear: (each) => each.clear('k'),
})

const leases: CallsOf<LeasesByToken> = {
  release: (byToken) => byToken.release(1),
  extend: (byToken) => byToken.extend(1, '1m'),
}

const byToken: readonly Group[] = [
  group('LeasesByToken', (redis) => redis.lock('a').byToken, leases),
  group('LeasesByToken', (redis) => redis.lock('a').shared.byToken, leases, 'of readers'),
  group('LeasesByToken', (redis) => redis.semaphore('a', { limit: 1 }).byToken, leases, 'of permits'),
  group('AttemptsByToken', (redis) => redis.once('a').byToken, {
    complete: (attempts) => attempts.complete('k', 1, 'done'),
    extend: (attempts) => attempts.extend('k', 1, '1m'),
    release: (attempts) => attempts.release('k', 1),
  }),
]

const counts: CallsOf<RateLimit> = {
  take: (limit) => limit.take('a'),
  get: (limit) => limit.get('a'),
  refund: (limit) => limit.refund('a'),
  release: (limit) => limit.release('a', 1),
  inspect: (limit) => limit.inspect('a'),
  clear: (limit) => limit.clear('a'),
}

const rateLimits: readonly Group[] = [
  group<RateLimit>('RateLimit', (redis) => redis.rateLimit('a', { limit: 1, window: '1s' }), {
    ...counts,
    // It has no concurrency limit, and rejects.
    release: gives((limit) => limit.release('a', 1).catch(() => undefined)),
  }),
  group(
    'RateLimit',
    (redis: Perilune): RateLimit => redis.rateLimit('a', { limit: 1, algorithm: 'concurrency', lease: '1m' }),
    counts,
    'of takes at work',
  ),
]

export const coordination: readonly Group[] = [...locks, barging, semaphore, once, ...byToken, ...rateLimits]
