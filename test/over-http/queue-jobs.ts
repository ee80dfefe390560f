// Reads of jobs, and operations on them without a claim.

import type { JobPage } from 'perilune'
import { found, Refused } from './outcome.ts'
import {
  byId,
  drawId,
  drawIds,
  KINDS,
  leave,
  pathOf,
  type QueueSteps,
  type QueueWorld,
  shownFound,
  shownJob,
  TAGS,
} from './queue-world.ts'

const LISTS = ['ready', 'prioritized', 'grouped', 'scheduled', 'blocked', 'claimed', 'dead', 'done'] as const

export function jobsIn(world: QueueWorld): QueueSteps {
  return {
    steps: [
      () => cancel(world),
      () => cancelMany(world),
      () => requeue(world),
      () => requeueMany(world),
      () => reprioritize(world),
      () => reprioritizeMany(world),
      () => requeueDead(world),
      () => dropDead(world),
    ],
    looks: [
      () => find(world),
      () => getMany(world),
      () => list(world),
      () => list(world),
      () => listDead(world),
      () => search(world),
      () => failures(world),
      () => lookWrongly(world),
    ],
  }
}

function known([outcome = 'absent']: readonly string[], id: string): object {
  if (outcome === 'absent') throw new Refused('not-found')
  return { id, outcome }
}

function answerOf(ids: readonly string[], outcomes: readonly string[]): object {
  return { jobs: ids.map((id, at) => ({ id, outcome: outcomes[at] })) }
}

/**
 * The worker of a cancelled job loses it, and its handle would give it back as soon as it learns of it: only its token
 * is used.
 */
function leaveCancelled(world: QueueWorld, ids: readonly string[]): void {
  leave(
    world,
    world.held.filter(({ here }) => ids.includes(here.id)),
  )
}

async function cancel(world: QueueWorld): Promise<void> {
  const { sides, queue, url, query } = world
  const { here, there } = drawId(world)
  leaveCancelled(world, [here])
  await sides.same(
    `cancel ${there}`,
    async () => known(await queue.jobs.cancel([here]), here),
    () => sides.http.delete(`${url}/jobs/${pathOf(there)}`, query),
  )
}

async function cancelMany(world: QueueWorld): Promise<void> {
  const { sides, queue, url, query } = world
  const { here, there } = drawIds(world)
  leaveCancelled(world, here)
  await sides.same(
    `cancel ${there.join(', ')}`,
    async () => answerOf(here, await queue.jobs.cancel(here)),
    () => sides.http.post(`${url}/cancel`, { ids: there }, query),
  )
}

async function requeue(world: QueueWorld): Promise<void> {
  const { sides, queue, url, query } = world
  const { here, there } = drawId(world)
  await sides.same(
    `requeue ${there}`,
    async () => known(await queue.jobs.requeue([here]), here),
    () => sides.http.post(`${url}/jobs/${pathOf(there)}/requeue`, undefined, query),
  )
}

async function requeueMany(world: QueueWorld): Promise<void> {
  const { sides, queue, url, query } = world
  const { here, there } = drawIds(world)
  await sides.same(
    `requeue ${there.join(', ')}`,
    async () => answerOf(here, await queue.jobs.requeue(here)),
    () => sides.http.post(`${url}/requeue`, { ids: there }, query),
  )
}

async function reprioritize(world: QueueWorld): Promise<void> {
  const { sides, queue, url, query } = world
  const { here, there } = drawId(world)
  const priority = sides.dice.oneOf([0, 3, -2, 1.5, 2_000_000])
  await sides.same(
    `give ${there} the priority ${priority}`,
    async () => {
      const [outcome = 'absent'] = await queue.jobs.reprioritize([here], priority)
      if (outcome === 'claimed') throw new Refused('refused', outcome)
      return known([outcome], here)
    },
    () => sides.http.patch(`${url}/jobs/${pathOf(there)}`, { priority }, query),
  )
}

async function reprioritizeMany(world: QueueWorld): Promise<void> {
  const { sides, queue, url, query } = world
  const { here, there } = drawIds(world)
  const priority = sides.dice.oneOf([0, 3, -2])
  await sides.same(
    `give ${there.join(', ')} the priority ${priority}`,
    async () => answerOf(here, await queue.jobs.reprioritize(here, priority)),
    () => sides.http.post(`${url}/reprioritize`, { ids: there, priority }, query),
  )
}

async function requeueDead({ sides, queue, url, query }: QueueWorld): Promise<void> {
  const kind = sides.dice.oneOf(KINDS)
  await sides.same(
    `requeue all that is dead of ${kind}`,
    async () => ({ count: await queue.dead.requeue(kind) }),
    () => sides.http.post(`${url}/dead/${pathOf(kind)}/requeue`, undefined, query),
  )
}

async function dropDead({ sides, queue, url, query }: QueueWorld): Promise<void> {
  const kind = sides.dice.oneOf([...KINDS, 'x'.repeat(300)])
  await sides.same(
    `drop all that is dead of ${kind.slice(0, 20)}`,
    async () => ({ count: await queue.dead.drop(kind) }),
    () => sides.http.delete(`${url}/dead/${pathOf(kind)}`, query),
  )
}

async function find(world: QueueWorld): Promise<void> {
  const { sides, queue, url, query } = world
  const { here, there } = drawId(world)
  await sides.same(
    `find ${there}`,
    async () => shownFound(await queue.jobs.get(here)),
    () => sides.http.get(`${url}/jobs/${pathOf(there)}`, query),
  )
}

async function getMany(world: QueueWorld): Promise<void> {
  const { sides, queue, url, query } = world
  const { here, there } = drawIds(world)
  await sides.same(
    `find ${there.join(', ')}`,
    async () => {
      const { jobs, left } = await queue.jobs.getPage(here)
      return { jobs: jobs.map(shownJob), left }
    },
    () => sides.http.get(`${url}/find`, { ids: there, ...query }),
  )
}

function shownPage({ jobs, next }: JobPage): object {
  return { jobs: jobs.map(shownJob), next }
}

/** The first pages of partitions differ: all pages are read. */
async function list({ sides, queue, url, query, partitions }: QueueWorld): Promise<void> {
  const state = sides.dice.oneOf(LISTS)
  const limit = partitions === null ? sides.dice.oneOf([1, 3, 50]) : 1000
  const page = partitions === null && sides.dice.chance(0.3) ? { limit, after: '2' } : { limit }
  await sides.same(
    `list ${state} ${JSON.stringify(page)}`,
    async () => shownPage(await queue.jobs.list(state, page)),
    () => sides.http.get(`${url}/jobs`, { state, ...page, ...query }),
  )
}

async function listDead({ sides, queue, url, query }: QueueWorld): Promise<void> {
  const kind = sides.dice.oneOf(KINDS)
  const state = sides.dice.oneOf(['dead', 'dead', 'ready'] as const)
  await sides.same(
    `list ${state} of ${kind}`,
    async () => shownPage(await queue.jobs.list(state, { kind, limit: 1000 })),
    () => sides.http.get(`${url}/jobs`, { state, kind, limit: 1000, ...query }),
  )
}

async function search({ sides, queue, url, query }: QueueWorld): Promise<void> {
  const { dice } = sides
  const wanted = {
    limit: 1000,
    ...(dice.chance(0.4) && { name: dice.oneOf(['mail', 'other']) }),
    ...(dice.chance(0.4) && { tag: dice.oneOf(TAGS) }),
    ...(dice.chance(0.4) && {
      state: dice.oneOf(['ready', 'scheduled', 'claimed', 'stopping', 'dead', 'done'] as const),
    }),
  }
  const inOrder = ({ jobs, next }: JobPage): JobPage => ({ jobs: byId(jobs), next })
  await sides.same(
    `search ${JSON.stringify(wanted)}`,
    async () => shownPage(inOrder(await queue.jobs.search(wanted))),
    async () => inOrder((await sides.http.get(`${url}/search`, { ...wanted, ...query })) as JobPage),
  )
}

/** Which job is the sample is up to the partitions. */
async function failures({ sides, queue, url, query, partitions }: QueueWorld): Promise<void> {
  const shown = (all: readonly { readonly sample: object }[]): object[] =>
    partitions === null ? [...all] : all.map(({ sample: _sample, ...counts }) => counts)
  await sides.same(
    'failures',
    async () => shown(await queue.dead.list()),
    async () => shown((await sides.http.get(`${url}/dead`, query)).kinds),
  )
}

async function lookWrongly({ sides, queue, url, query }: QueueWorld): Promise<void> {
  const wanted = sides.dice.oneOf([
    { limit: -1 },
    { limit: 0 },
    { limit: 1001 },
    { after: 'here' },
    { tag: 'x'.repeat(200) },
  ])
  await sides.same(
    `search ${JSON.stringify(wanted).slice(0, 60)}`,
    async () => found(await queue.jobs.search(wanted)),
    () => sides.http.get(`${url}/search`, { ...wanted, ...query }),
  )
}
