// The feed of the library, with all that it does beside.

import type { Redis } from 'ioredis'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { type Perilune, perilune, text } from '../../src/index.ts'
import { type Feed, LIFE_MS, ORIGIN, PAGE } from './contender.ts'

/** Closing the library is left to the caller. */
export function shippedFeed(client: Redis): { library: Perilune; feed: Feed } {
  const library = perilune(ioredis(client), { deadline: '60s' })
  const feed = library.feed('layout', { codec: text, expireAfter: `${LIFE_MS}ms`, origin: ORIGIN })
  return {
    library,
    feed: {
      prefix: 'perilune:{feed:layout}',
      async append(bodies) {
        const appended =
          bodies.length === 1
            ? [await feed.append(bodies[0] ?? '')]
            : await feed.appendMany(bodies.map((body) => ({ body })))
        return appended.map(({ marker }) => marker ?? '')
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
    },
  }
}
