// What can be read of jobs: logs, tags, histories, results and dependencies.

import type { Dependency } from 'perilune'
import { done, found, Refused } from './outcome.ts'
import { drawId, pathOf, type QueueSteps, type QueueWorld, shownJob, TAGS } from './queue-world.ts'

export function notesIn(world: QueueWorld): QueueSteps {
  return {
    steps: [
      () => log(world),
      () => tag(world),
      () => untag(world),
      () => track(world),
      () => untrack(world),
      () => changeDependencies(world),
    ],
    looks: [
      () => history(world),
      () => resultOf(world),
      () => resultOf(world),
      () => dependencies(world),
      () => dependencies(world),
      () => countTags(world),
      () => tracked(world),
    ],
  }
}

async function log(world: QueueWorld): Promise<void> {
  const { sides, queue, url, query } = world
  const { here, there } = drawId(world)
  const line = sides.dice.oneOf(['asked for', 'é'])
  await sides.same(
    `log a line of ${there}`,
    async () => done(await queue.jobs.log(here, line)),
    () => sides.http.post(`${url}/jobs/${pathOf(there)}/log`, { line }, query),
  )
}

async function tag(world: QueueWorld): Promise<void> {
  const { sides, queue, url, query } = world
  const { here, there } = drawId(world)
  const tags = sides.dice.oneOf([TAGS, [TAGS[0] as string], ['']])
  await sides.same(
    `tag ${there} ${tags.join(' ')}`,
    async () => ({ id: here, tags: found(await queue.jobs.tag(here, tags)) }),
    () => sides.http.post(`${url}/jobs/${pathOf(there)}/tags`, { tags }, query),
  )
}

async function untag(world: QueueWorld): Promise<void> {
  const { sides, queue, url, query } = world
  const { here, there } = drawId(world)
  const less = sides.dice.oneOf(TAGS)
  await sides.same(
    `untag ${there} ${less}`,
    async () => ({ id: here, tags: found(await queue.jobs.untag(here, [less])) }),
    () => sides.http.delete(`${url}/jobs/${pathOf(there)}/tags/${pathOf(less)}`, query),
  )
}

async function track(world: QueueWorld): Promise<void> {
  const { here, there } = drawId(world)
  await world.sides.same(
    `track ${there}`,
    async () => done(await world.queue.jobs.track(here)),
    () => world.sides.http.put(`${world.url}/jobs/${pathOf(there)}/track`, undefined, world.query),
  )
}

async function untrack(world: QueueWorld): Promise<void> {
  const { here, there } = drawId(world)
  await world.sides.same(
    `track ${there} no more`,
    async () => done(await world.queue.jobs.untrack(here)),
    () => world.sides.http.delete(`${world.url}/jobs/${pathOf(there)}/track`, world.query),
  )
}

async function changeDependencies(world: QueueWorld): Promise<void> {
  const { sides, queue, url, query } = world
  const dependent = drawId(world)
  const dependency = drawId(world)
  const adds = sides.dice.chance(0.5)
  const body = adds ? { add: [dependency.there] } : { remove: [dependency.there] }
  await sides.same(
    `change the dependencies of ${dependent.there} ${JSON.stringify(body)}`,
    async () => {
      const { jobs } = queue
      const outcome = await (adds
        ? jobs.addDependencies(dependent.here, [dependency.here])
        : jobs.removeDependencies(dependent.here, [dependency.here]))
      if (outcome === 'absent') throw new Refused('not-found')
      if (outcome !== 'changed') throw new Refused('refused', outcome)
      return { id: dependent.here, outcome }
    },
    () => sides.http.post(`${url}/jobs/${pathOf(dependent.there)}/dependencies`, body, query),
  )
}

async function history(world: QueueWorld): Promise<void> {
  const { sides, queue, url, query } = world
  const { here, there } = drawId(world)
  await sides.same(
    `history of ${there}`,
    async () => ({ id: here, ...found(await queue.jobs.history(here)) }),
    () => sides.http.get(`${url}/jobs/${pathOf(there)}/history`, query),
  )
}

/** How it ended, without waiting for it. */
async function resultOf(world: QueueWorld): Promise<void> {
  const { sides, queue, url, query } = world
  const { here, there } = drawId(world)
  await sides.same(
    `result of ${there}`,
    async () => {
      const end = await queue.jobs.waitForResult(here)
      if (end === null) return null
      const { state, result = null, ...rest } = end
      if (state === 'absent') throw new Refused('not-found')
      return { id: here, state, result, ...rest }
    },
    () => sides.http.get(`${url}/jobs/${pathOf(there)}/result`, query),
  )
}

async function dependencies(world: QueueWorld): Promise<void> {
  const { sides, queue, url, query } = world
  const { here, there } = drawId(world)
  const shown = ({ result = null, ...rest }: Dependency): object => ({ ...rest, result })
  await sides.same(
    `dependencies of ${there}`,
    async () => {
      const page = await queue.jobs.dependenciesPage(here)
      if (page.dependencies.length === 0) found(await queue.jobs.get(here))
      return { dependencies: page.dependencies.map(shown), next: page.next }
    },
    () => sides.http.get(`${url}/jobs/${pathOf(there)}/dependencies`, query),
  )
}

async function countTags({ sides, queue, url, query }: QueueWorld): Promise<void> {
  const limit = sides.dice.oneOf([1, 50, -1])
  await sides.same(
    `tags, ${limit}`,
    async () => ({ tags: await queue.jobs.tags({ limit }) }),
    () => sides.http.get(`${url}/tags`, { limit, ...query }),
  )
}

async function tracked({ sides, queue, url, query }: QueueWorld): Promise<void> {
  await sides.same(
    'tracked',
    async () => {
      const { jobs, next } = await queue.jobs.tracked({ limit: 1000 })
      return { jobs: jobs.map(shownJob), next }
    },
    () => sides.http.get(`${url}/tracked`, { limit: 1000, ...query }),
  )
}
