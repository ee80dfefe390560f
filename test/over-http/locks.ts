// Locks, held alone and shared, and elections, which are locks of the same names.

import type { Campaign, Lease, Lock, LockAccess, Term } from 'perilune'
import { found, Refused } from './outcome.ts'
import type { Pair, Part, Sides, Step } from './sides.ts'

const LEASE = '1h'

interface Held extends Pair<Lease, number> {
  readonly isShared: boolean
}

/** A lease that is over, or was never: known by its token only. */
interface Over extends Pair<number> {
  readonly isShared: boolean
}

interface World {
  readonly sides: Sides
  readonly url: string
  held: Held[]
  readonly over: Over[]
}

export function lockPart(sides: Sides): Part {
  const over = [{ here: 1, there: 1, isShared: false }]
  const world: World = { sides, url: `/locks/${sides.name}`, held: [], over }
  const { name, redis, http } = sides
  const inspect: Step = () =>
    sides.same(
      'inspect',
      async () => ({ name, ...(await redis.lock(name).inspect()) }),
      () => http.get(world.url),
    )
  return {
    steps: [
      () => acquire(world, false),
      () => acquire(world, true),
      () => acquire(world, true),
      () => acquireWrongly(world),
      () => extend(world),
      () => extendOver(world),
      () => release(world),
      () => release(world),
      () => releaseOver(world),
      () => clear(world),
    ],
    looks: [inspect],
    contents: (through, called) => through.lock(called).inspect(),
  }
}

async function acquire({ sides, url, held }: World, isShared: boolean): Promise<void> {
  const { redis, http, dice, name } = sides
  const fair = dice.chance(0.5)
  const terms = { lease: LEASE, holder: dice.oneOf(['ada', 'bob']), fair } as const
  let lease: Lease | null = null
  const pair = await sides.same(
    `acquire ${isShared ? 'shared' : ''}`,
    async () => {
      lease = await accessTo(redis.lock(name, terms), isShared).tryAcquire()
      return grantOf(lease, 'held')
    },
    () => http.post(`${url}/leases`, { ...terms, shared: isShared }),
  )
  if (pair !== null && lease !== null) held.push({ here: lease, there: pair.there.token, isShared })
}

function acquireWrongly({ sides, url }: World): Promise<unknown> {
  const wrong = sides.dice.oneOf([
    { lease: '0ms' },
    { lease: '60d' },
    { lease: 5 },
    { fair: 'last' },
    { holder: 'x'.repeat(2000) },
  ])
  return sides.same(
    `acquire with ${JSON.stringify(wrong).slice(0, 60)}`,
    async () => grantOf(await sides.redis.lock(sides.name, wrong as never).tryAcquire(), 'held'),
    () => sides.http.post(`${url}/leases`, wrong),
  )
}

async function extend({ sides, url, held }: World): Promise<void> {
  if (held.length === 0) return
  const { here, there, isShared } = sides.dice.oneOf(held)
  const lease = sides.dice.oneOf(['2h', '30m'] as const)
  await sides.same(
    'extend',
    async () => {
      await here.extend(lease)
      return {
        token: here.token,
        leaseMs: lease === '2h' ? 7_200_000 : 1_800_000,
        expiresAtMs: here.expiresAtMs,
      }
    },
    () => sides.http.patch(`${url}/leases/${there}`, { lease }, { shared: isShared }),
  )
}

async function extendOver({ sides, url, over }: World): Promise<void> {
  const { here, there, isShared } = sides.dice.oneOf(over)
  await sides.same(
    'extend one that is over',
    () => accessTo(sides.redis.lock(sides.name), isShared).byToken.extend(here, LEASE),
    () => sides.http.patch(`${url}/leases/${there}`, { lease: LEASE }, { shared: isShared }),
  )
}

async function release(world: World): Promise<void> {
  const { sides, url, held, over } = world
  if (held.length === 0) return
  const one = sides.dice.oneOf(held)
  world.held = held.filter((each) => each !== one)
  over.push({ here: one.here.token, there: one.there, isShared: one.isShared })
  await sides.same(
    'release',
    () => one.here.release(),
    () => sides.http.delete(`${url}/leases/${one.there}`, { shared: one.isShared }),
  )
}

async function releaseOver({ sides, url, over }: World): Promise<void> {
  const { here, there, isShared } = sides.dice.oneOf(over)
  await sides.same(
    'release one that is over',
    () => accessTo(sides.redis.lock(sides.name), isShared).byToken.release(here),
    () => sides.http.delete(`${url}/leases/${there}`, { shared: isShared }),
  )
}

/** The holder loses it, and may still try to give it back. */
async function clear({ sides, url }: World): Promise<void> {
  if (!sides.dice.chance(0.3)) return
  await sides.same(
    'clear',
    async () => void (await sides.redis.lock(sides.name).clear()),
    () => sides.http.delete(url),
  )
}

function accessTo(lock: Lock, isShared: boolean): LockAccess {
  return isShared ? lock.shared : lock
}

/** As the service returns it. */
export function grantOf(lease: Lease | null, refusal: 'held' | 'full'): object {
  if (lease === null) throw new Refused(refusal)
  return { token: lease.token, leaseMs: 3_600_000, expiresAtMs: lease.expiresAtMs }
}

/** The leader: by a campaign, or by the lock alone. */
interface Office extends Pair<number> {
  readonly campaign: Campaign | null
}

interface Offices {
  readonly sides: Sides
  readonly url: string
  leader: Office | null
  last: Pair<number>
}

export function electionPart(sides: Sides): Part {
  const offices: Offices = {
    sides,
    url: `/elections/${sides.name}`,
    leader: null,
    last: { here: 1, there: 1 },
  }
  const { name, redis, http } = sides
  const inspect: Step = () =>
    sides.same(
      'who leads',
      async () => ({ name, leader: await redis.election(name).leader() }),
      () => http.get(offices.url),
    )
  return {
    steps: [
      () => stand(offices),
      () => stand(offices),
      () => extendTerm(offices),
      () => stepDown(offices),
      () => stepDown(offices),
      () => depose(offices),
    ],
    looks: [inspect],
    contents: async (through, called) => [
      await through.election(called).leader(),
      await through.lock(called).inspect(),
    ],
  }
}

async function stand(offices: Offices): Promise<void> {
  const { sides, url, leader } = offices
  const terms = { lease: LEASE, holder: sides.dice.oneOf(['ada', 'bob']) } as const
  const campaigns = leader === null && sides.dice.chance(0.5)
  let campaign: Campaign | null = null
  const pair = await sides.same(
    campaigns ? 'campaign' : 'stand',
    async () => {
      if (!campaigns) return grantOf(await sides.redis.lock(sides.name, terms).tryAcquire(), 'held')
      const term = await new Promise<Term>((resolve) => {
        campaign = sides.redis.election(sides.name, terms).campaign((won) => {
          resolve(won)
          return new Promise<void>((leave) => won.signal.addEventListener('abort', () => leave()))
        })
      })
      const now = found(await sides.redis.election(sides.name).leader())
      return { token: term.token, leaseMs: 3_600_000, expiresAtMs: now.expiresAtMs }
    },
    () => sides.http.post(`${url}/terms`, terms),
  )
  if (pair === null) return
  const { token } = pair.here as { token: number }
  offices.leader = { here: token, there: pair.there.token as number, campaign }
  offices.last = offices.leader
}

/** A campaign extends its term by itself: by the token it is asked for here as a client of the service does. */
async function extendTerm({ sides, url, last }: Offices): Promise<void> {
  await sides.same(
    'extend the term',
    async () => ({
      token: last.here,
      ...(await sides.redis.lock(sides.name).byToken.extend(last.here, '2h')),
    }),
    () => sides.http.patch(`${url}/terms/${last.there}`, { lease: '2h' }),
  )
}

async function stepDown(offices: Offices): Promise<void> {
  const { sides, url, leader, last } = offices
  offices.leader = null
  await sides.same(
    'step down',
    () => leader?.campaign?.close() ?? sides.redis.lock(sides.name).byToken.release(last.here),
    () => sides.http.delete(`${url}/terms/${last.there}`),
  )
}

/** Not one by a campaign, which would stand for election again at any time. */
async function depose(offices: Offices): Promise<void> {
  const { sides, leader } = offices
  if (leader !== null && leader.campaign !== null) return
  offices.leader = null
  await sides.same(
    'depose',
    async () => void (await sides.redis.lock(sides.name).clear()),
    () => sides.http.delete(`/locks/${sides.name}`),
  )
}
