// Readers whose markers are kept with a feed.

import type { Page } from 'perilune'
import { drawMarker, type FeedSteps, type FeedWorld } from './feed-world.ts'
import { done, found } from './outcome.ts'

const NAMES = ['ada', 'b/é']

export function subscribersOf(world: FeedWorld): FeedSteps {
  return {
    steps: [() => subscribe(world), () => advance(world), () => advance(world), () => forget(world)],
    looks: [() => read(world)],
  }
}

function urlOf({ url }: FeedWorld, name: string): string {
  return `${url}/subscribers/${encodeURIComponent(name)}`
}

/** Whether it was made now the library does not say. */
async function subscribe(world: FeedWorld): Promise<void> {
  const { sides, feed } = world
  const name = sides.dice.oneOf(NAMES)
  const from = sides.dice.chance(0.5) ? drawMarker(world) : null
  const options = sides.dice.chance(0.3) ? { protect: true } : {}
  await sides.same(
    `subscribe ${name} ${JSON.stringify(options)} ${from === null ? '' : 'from a cursor'}`,
    async () => {
      const subscriber = feed.subscriber(name, { ...options, ...(from !== null && { from: from.here }) })
      return { name, cursor: await subscriber.cursor() }
    },
    () => sides.http.put(urlOf(world, name), { ...options, ...(from !== null && { from: from.there }) }),
  )
}

async function advance(world: FeedWorld): Promise<void> {
  const { sides, feed } = world
  const name = sides.dice.oneOf(NAMES)
  const to = drawMarker(world)
  const options = sides.dice.chance(0.3) ? { rewind: true } : {}
  await sides.same(
    `advance ${name} ${JSON.stringify(options)} to ${to.here === 'end' ? 'the end' : 'a cursor'}`,
    async () => ({ name, cursor: found(await feed.subscriber(name).commit(to.here, options)) }),
    () => sides.http.patch(urlOf(world, name), { cursor: to.there, ...options }),
  )
}

async function forget(world: FeedWorld): Promise<void> {
  const { sides, feed } = world
  const name = sides.dice.oneOf(NAMES)
  await sides.same(
    `forget ${name}`,
    async () => done(await feed.subscriber(name).forget()),
    () => sides.http.delete(urlOf(world, name)),
  )
}

/** The library creates a missing subscriber: only the service is asked for one. */
async function read(world: FeedWorld): Promise<void> {
  const { sides, feed } = world
  const name = sides.dice.oneOf(NAMES)
  const limit = sides.dice.oneOf([2, 100])
  await sides.same(
    `read for ${name}`,
    async (): Promise<Page<unknown>> => {
      const { next } = await feed.read({ after: 'end', limit: 1 })
      found(await feed.subscriber(name).commit(`${next.split('-')[0]}-0`))
      return feed.subscriber(name).page({ limit })
    },
    () => sides.http.get(`${urlOf(world, name)}/messages`, { limit }),
  )
}
