// Semaphores: permits with weights, and a limit that may be set for all.

import type { Lease } from 'perilune'
import { grantOf } from './locks.ts'
import { Refused } from './outcome.ts'
import type { Pair, Part, Sides, Step } from './sides.ts'

const LIMIT = 4
const LEASE = '1h'

interface World {
  readonly sides: Sides
  readonly url: string
  held: Pair<Lease, number>[]
  readonly over: Pair<number>[]
}

export function semaphorePart(sides: Sides): Part {
  const { name, redis, http } = sides
  const world: World = { sides, url: `/semaphores/${name}`, held: [], over: [{ here: 1, there: 1 }] }
  const inspect: Step = () =>
    sides.same(
      'inspect',
      async () => {
        const picture = await redis.semaphore(name, { limit: LIMIT }).inspect()
        if (picture.token === null && !picture.resized) throw new Refused('not-found')
        return { name, ...picture }
      },
      () => http.get(world.url),
    )
  return {
    steps: [
      () => acquire(world),
      () => acquire(world),
      () => acquireWrongly(world),
      () => extend(world),
      () => extendOver(world),
      () => release(world),
      () => release(world),
      () => releaseOver(world),
      () => resize(world),
      () => clear(world),
    ],
    looks: [inspect],
    contents: (through, called) => through.semaphore(called, { limit: LIMIT }).inspect(),
  }
}

async function acquire({ sides, url, held }: World): Promise<void> {
  const { redis, http, dice, name } = sides
  const terms = { limit: LIMIT, lease: LEASE, holder: dice.oneOf(['ada', 'bob']) } as const
  const weight = dice.oneOf([1, 1, 2, 3, 9])
  let lease: Lease | null = null
  const pair = await sides.same(
    `acquire ${weight}`,
    async () => {
      lease = await redis.semaphore(name, terms).tryAcquire({ weight })
      return grantOf(lease, 'full')
    },
    () => http.post(`${url}/leases`, { ...terms, weight }),
  )
  if (pair !== null && lease !== null) held.push({ here: lease, there: pair.there.token })
}

function acquireWrongly({ sides, url }: World): Promise<unknown> {
  const { weight = 1, ...terms } = sides.dice.oneOf<{ weight?: number }>([
    { limit: -1 },
    { limit: 0 },
    { limit: 1.5 },
    {},
    { limit: 3, lease: 'soon' },
    { limit: 3, weight: 0 },
    { limit: 3, weight: -2 },
  ] as object[])
  return sides.same(
    `acquire ${weight} with ${JSON.stringify(terms)}`,
    async () => {
      const semaphore = sides.redis.semaphore(sides.name, terms as never)
      return grantOf(await semaphore.tryAcquire({ weight }), 'full')
    },
    () => sides.http.post(`${url}/leases`, { ...terms, weight }),
  )
}

async function extend({ sides, url, held }: World): Promise<void> {
  if (held.length === 0) return
  const { here, there } = sides.dice.oneOf(held)
  await sides.same(
    'extend',
    async () => {
      await here.extend('2h')
      return { token: here.token, leaseMs: 7_200_000, expiresAtMs: here.expiresAtMs }
    },
    () => sides.http.patch(`${url}/leases/${there}`, { lease: '2h' }),
  )
}

async function extendOver({ sides, url, over }: World): Promise<void> {
  const { here, there } = sides.dice.oneOf(over)
  await sides.same(
    'extend one that is over',
    () => sides.redis.semaphore(sides.name, { limit: LIMIT }).byToken.extend(here, LEASE),
    () => sides.http.patch(`${url}/leases/${there}`, { lease: LEASE }),
  )
}

async function release(world: World): Promise<void> {
  const { sides, url, held, over } = world
  if (held.length === 0) return
  const one = sides.dice.oneOf(held)
  world.held = held.filter((each) => each !== one)
  over.push({ here: one.here.token, there: one.there })
  await sides.same(
    'release',
    () => one.here.release(),
    () => sides.http.delete(`${url}/leases/${one.there}`),
  )
}

async function releaseOver({ sides, url, over }: World): Promise<void> {
  const { here, there } = sides.dice.oneOf(over)
  await sides.same(
    'release one that is over',
    () => sides.redis.semaphore(sides.name, { limit: LIMIT }).byToken.release(here),
    () => sides.http.delete(`${url}/leases/${there}`),
  )
}

function resize({ sides, url }: World): Promise<unknown> {
  const limit = sides.dice.oneOf([2, 3, 6, -1])
  return sides.same(
    `resize to ${limit}`,
    () => sides.redis.semaphore(sides.name, { limit: LIMIT }).resize(limit),
    () => sides.http.put(`${url}/limit`, { limit }),
  )
}

/** The holder of a permit loses it, and may still try to give it back. */
async function clear({ sides, url }: World): Promise<void> {
  if (!sides.dice.chance(0.3)) return
  await sides.same(
    'clear',
    async () => void (await sides.redis.semaphore(sides.name, { limit: LIMIT }).clear()),
    () => sides.http.delete(url),
  )
}
