import type { Feed, Perilune } from 'perilune'
import type { Deed, Dice } from './deed.ts'

const LARGE = 'x'.repeat(20_000)

/** Feeds, one of them in partitions. */
export function feedDeeds(redis: Perilune, dice: Dice): Deed[] {
  const plain = redis.feed<string>('f', { maxClaims: 3, retention: 200 })
  const spread = redis.feed<string>('fp', { partitions: 3, maxClaims: 2, retention: { count: 100 } })
  return [...deedsOf(plain, dice), ...deedsOf(spread as never, dice, true)]
}

function deedsOf(feed: Feed<string>, dice: Dice, isSpread = false): Deed[] {
  const body = (): string => (dice.chance(0.1) ? LARGE : `m${dice.upTo(99)}`)
  const message = (): { body: string } => ({
    body: body(),
    ...(dice.chance(0.3) && { ttl: dice.oneOf(['50ms', '1s', '1h'] as const) }),
    ...(dice.chance(0.2) && { delay: dice.oneOf(['20ms', '500ms'] as const) }),
    ...(dice.chance(0.2) && { idempotencyKey: `i${dice.upTo(9)}` }),
    ...(isSpread && { key: `p${dice.upTo(9)}` }),
  })
  const claim = (): ReturnType<Feed<string>['claim']> =>
    feed.claim({ limit: 1 + dice.upTo(9), lease: dice.oneOf(['100ms', '1s', '10s'] as const) })
  return [
    ['append', async () => feed.append(body(), (isSpread ? { key: 'k' } : {}) as never)],
    ['append many', async () => feed.appendMany(Array.from({ length: 1 + dice.upTo(20) }, message))],
    ['read', async () => feed.read({ limit: 20 })],
    ['claim and ack', async () => (await claim())?.ack()],
    ['claim and release', async () => (await claim())?.release()],
    ['claim and extend', async () => (await claim())?.extend('200ms')],
    ['claim and leave', async () => void (await claim())],
    ['remove', async () => feed.remove((await feed.read({ limit: 3 })).messages.map(({ id }) => id))],
    ['clear', async () => (dice.chance(0.02) ? feed.clear() : feed.inspect())],
  ]
}
