import type { Perilune } from 'perilune'
import type { Deed, Dice } from './deed.ts'

const LEASES = ['100ms', '1s', '20s'] as const

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Locks, readers, semaphores, keys of once and rate limits. */
export function leaseDeeds(redis: Perilune, dice: Dice): Deed[] {
  return [
    ...lockDeeds(redis, dice),
    ...semaphoreDeeds(redis, dice),
    ...onceDeeds(redis, dice),
    ...limitDeeds(redis, dice),
  ]
}

function lockDeeds(redis: Perilune, dice: Dice): Deed[] {
  const lock = (): ReturnType<Perilune['lock']> =>
    redis.lock(dice.oneOf(['l1', 'l2']), {
      lease: dice.oneOf(LEASES),
      fair: dice.oneOf([true, true, false]),
    })
  const wait = dice.chance(0.5) ? '50ms' : '300ms'
  return [
    ['lock', async () => lock().run(() => pause(dice.upTo(5)), { wait })],
    ['lock shared', async () => lock().shared.run(() => pause(dice.upTo(10)), { wait })],
    ['lock left', async () => void (await lock().tryAcquire())],
    ['lock clear', async () => (dice.chance(0.1) ? lock().clear() : lock().inspect())],
    [
      'lock extend',
      async () => {
        const lease = await lock().acquire({ wait })
        await lease.extend(dice.oneOf(LEASES))
        await lease.release()
      },
    ],
  ]
}

function semaphoreDeeds(redis: Perilune, dice: Dice): Deed[] {
  const semaphore = (): ReturnType<Perilune['semaphore']> =>
    redis.semaphore('s1', { limit: 3, lease: dice.oneOf(LEASES) })
  const weight = (): { wait: '200ms'; weight: number } => ({ wait: '200ms', weight: 1 + dice.upTo(1) })
  return [
    ['semaphore', async () => semaphore().run(() => pause(dice.upTo(8)), weight())],
    ['semaphore left', async () => void (await semaphore().tryAcquire())],
    [
      'semaphore resize',
      async () => (dice.chance(0.1) ? semaphore().resize(2 + dice.upTo(3)) : semaphore().inspect()),
    ],
    ['semaphore clear', async () => (dice.chance(0.05) ? semaphore().clear() : undefined)],
  ]
}

function onceDeeds(redis: Perilune, dice: Dice): Deed[] {
  const once = redis.once<string>('o', { lease: '1s', resultTtl: '2s' })
  const key = (): string => `k${dice.upTo(20)}`
  return [
    ['once', async () => once.run(key(), () => pause(dice.upTo(5)).then(() => 'done'), { wait: '100ms' })],
    ['once left', async () => void (await once.begin(key(), { id: `i${dice.upTo(3)}` }))],
    [
      'once fails',
      async () => {
        const begun = await once.begin(key())
        if (begun.status === 'started') await begun.attempt.release()
      },
    ],
    ['once clear', async () => once.clear(key())],
  ]
}

function limitDeeds(redis: Perilune, dice: Dice): Deed[] {
  const limits = {
    short: { limit: 5, window: '1s' },
    slid: { algorithm: 'sliding-window', limit: 9, window: '2s' },
    parallel: { algorithm: 'concurrency', limit: 3, lease: '1s' },
  } as const
  const limiter = redis.rateLimit('r', { limits })
  const subject = (): string => `u${dice.upTo(5)}`
  return [
    [
      'rate limit',
      async () => {
        const of = subject()
        const { token } = (await limiter.take(of)) as { token?: number }
        if (token !== undefined && dice.chance(0.7)) await limiter.release(of, token)
      },
    ],
    ['rate limit looks', async () => limiter.get(subject())],
    ['rate limit clear', async () => (dice.chance(0.1) ? limiter.clear(subject()) : undefined)],
  ]
}
