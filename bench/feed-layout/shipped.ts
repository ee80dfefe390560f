// The feed of the library, with all that it does beside.

import type { Redis } from 'ioredis'
import type { Perilune, Feed as ShippedFeed } from '../../src/index.ts'
import { builtLibrary } from '../harness/built.ts'
import { type Feed, LIFE_MS, ORIGIN, PAGE } from './contender.ts'

/** Closing the library is left to the caller. */
export async function shippedFeed(client: Redis): Promise<{ library: Perilune; feed: Feed }> {
  const { perilune, ioredis } = await builtLibrary()
  const library = perilune(ioredis(client), { deadline: '60s' })
  return { library, feed: await feedOf(library) }
}

/** A feed whose messages live for a day, or until they are removed. */
export async function feedOf(library: Perilune, { lives = true }: { lives?: boolean } = {}): Promise<Feed> {
  const { text } = await builtLibrary()
  const name = lives ? 'layout' : 'layout-for-ever'
  const life = lives ? ({ ttl: `${LIFE_MS}ms` } as const) : {}
  return asContender(library.feed(name, { codec: text, origin: ORIGIN, ...life }))
}

function asContender(feed: ShippedFeed<string>): Feed {
  return {
    prefix: `perilune:{feed:${feed.name}}`,
    async append(bodies) {
      const appended =
        bodies.length === 1
          ? [await feed.append(bodies[0] ?? '')]
          : await feed.appendMany(bodies.map((body) => ({ body })))
      return appended.map(({ cursor: marker }) => marker ?? '')
    },
    async page(after) {
      return (await feed.read({ after, limit: PAGE })).messages.length
    },
    async claim() {
      const claim = await feed.claim({ limit: PAGE, lease: '1h' })
      if (claim === null) throw new Error('there was nothing to claim')
      const ids = claim.messages.map(({ id }) => id)
      return (count) => claim.ack(count === undefined ? 'all' : ids.slice(0, count))
    },
  }
}
