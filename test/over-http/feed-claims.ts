// Claims of messages: through the handle while the claim lasts, by its token when it is over.

import type { Claim } from 'perilune'
import type { FeedSteps, FeedWorld } from './feed-world.ts'
import { found, notLost, Refused } from './outcome.ts'
import type { Pair } from './sides.ts'

interface ClaimAnswer {
  readonly token: number
  readonly messages: readonly { readonly id: string }[]
}

interface Held {
  readonly here: Claim<unknown>
  readonly there: ClaimAnswer
}

interface World extends FeedWorld {
  held: Held[]
  readonly over: Pair<number>[]
}

export function claimsIn(feed: FeedWorld): FeedSteps {
  const world: World = { ...feed, held: [], over: [{ here: 1, there: 1 }] }
  return {
    steps: [
      () => claim(world),
      () => claim(world),
      () => claim(world),
      () => claimWrongly(world),
      () => extend(world),
      () => extendOver(world),
      () => ackOne(world),
      () => ackAll(world),
      () => release(world),
      () => release(world),
      () => ackOver(world),
      () => releaseOver(world),
    ],
    looks: [() => find(world)],
  }
}

async function claim({ sides, url, held }: World): Promise<void> {
  const { dice } = sides
  const dead = {
    ...(dice.chance(0.7) && { maxClaims: 2 }),
    ...(dice.chance(0.3) && { deadLettersTtl: '5h' as const }),
  }
  const terms = {
    limit: 1 + dice.upTo(3),
    lease: dice.oneOf(['1h', '2h'] as const),
    ...(dice.chance(0.3) && { grace: '3h' as const }),
  }
  let claimed: Claim<unknown> | null = null
  const pair = await sides.same(
    `claim ${JSON.stringify({ ...dead, ...terms })}`,
    async () => {
      claimed = await sides.redis.feed(sides.name, dead).claim(terms)
      return claimed === null ? null : answerOf(claimed)
    },
    () => sides.http.post(`${url}/claims`, { ...dead, ...terms }),
  )
  if (pair !== null && claimed !== null) held.push({ here: claimed, there: pair.there as ClaimAnswer })
}

function answerOf({ token, leaseMs, expiresAtMs, messages }: Claim<unknown>): object {
  return { token, leaseMs, expiresAtMs, messages }
}

async function claimWrongly({ sides, url }: World): Promise<void> {
  const terms = sides.dice.oneOf([
    { limit: -1 },
    { limit: 1001 },
    { lease: '0s' },
    { lease: 'soon' },
    { grace: '-1s' },
  ])
  await sides.same(
    `claim ${JSON.stringify(terms)}`,
    () => sides.redis.feed(sides.name).claim(terms as object),
    () => sides.http.post(`${url}/claims`, terms),
  )
}

async function extend({ sides, url, held }: World): Promise<void> {
  if (held.length === 0) return
  const { here, there } = sides.dice.oneOf(held)
  const grace = sides.dice.chance(0.3) ? { grace: '4h' as const } : {}
  await sides.same(
    'extend',
    async () => {
      await here.extend('2h', grace)
      return { token: here.token, leaseMs: here.leaseMs, expiresAtMs: here.expiresAtMs }
    },
    () => sides.http.patch(`${url}/claims/${there.token}`, { lease: '2h', ...grace }),
  )
}

async function extendOver({ sides, url, feed, over }: World): Promise<void> {
  const { here, there } = sides.dice.oneOf(over.slice(-5))
  await sides.same(
    'extend one that is over',
    async () => notLost((await feed.byToken.extend([{ token: here }], '1h')).claims),
    () => sides.http.patch(`${url}/claims/${there}`, { lease: '1h' }),
  )
}

/** One of the claim, or one of another. */
async function ackOne({ sides, url, held, ids }: World): Promise<void> {
  if (held.length === 0) return
  const { here, there } = sides.dice.oneOf(held)
  const at = sides.dice.upTo(here.messages.length - 1)
  const own = { here: here.messages[at]?.id ?? '', there: there.messages[at]?.id ?? '' }
  const id = sides.dice.chance(0.7) ? own : sides.dice.oneOf(ids.slice(-10))
  await sides.same(
    'ack one',
    async () => {
      const [refused] = await here.ack([id.here])
      if (refused !== undefined) throw new Refused('refused', refused.reason)
    },
    () => sides.http.delete(`${url}/claims/${there.token}/messages/${id.there}`),
  )
}

/** From now on its token is all that is known of it. */
function end(world: World): Held | null {
  if (world.held.length === 0) return null
  const one = world.sides.dice.oneOf(world.held)
  world.held = world.held.filter((each) => each !== one)
  world.over.push({ here: one.here.token, there: one.there.token })
  return one
}

async function ackAll(world: World): Promise<void> {
  const ended = end(world)
  if (ended === null) return
  await world.sides.same(
    'ack all',
    async () => void (await ended.here.ack()),
    () => world.sides.http.delete(`${world.url}/claims/${ended.there.token}/messages`),
  )
}

async function release(world: World): Promise<void> {
  const ended = end(world)
  if (ended === null) return
  await world.sides.same(
    'release',
    () => ended.here.release(),
    () => world.sides.http.delete(`${world.url}/claims/${ended.there.token}`),
  )
}

async function ackOver({ sides, url, feed, over, ids }: World): Promise<void> {
  const { here, there } = sides.dice.oneOf(over.slice(-5))
  const id = sides.dice.chance(0.5) ? sides.dice.oneOf(ids.slice(-10)) : null
  await sides.same(
    `ack ${id === null ? 'all' : 'one'} of one that is over`,
    async () =>
      void notLost(await feed.byToken.ack([{ token: here, ...(id !== null && { ids: [id.here] }) }])),
    () => sides.http.delete(`${url}/claims/${there}/messages${id === null ? '' : `/${id.there}`}`),
  )
}

async function releaseOver({ sides, url, feed, over }: World): Promise<void> {
  const { here, there } = sides.dice.oneOf(over.slice(-5))
  await sides.same(
    'release one that is over',
    async () => void notLost(await feed.byToken.release([{ token: here }])),
    () => sides.http.delete(`${url}/claims/${there}`),
  )
}

async function find({ sides, url, feed, held, over }: World): Promise<void> {
  const tokens = [...over, ...held.map(({ here, there }) => ({ here: here.token, there: there.token }))]
  const { here, there } = sides.dice.oneOf(tokens)
  await sides.same(
    'look a claim up',
    async () => answerOf(found(await feed.byToken.get({ token: here }))),
    () => sides.http.get(`${url}/claims/${there}`),
  )
}
