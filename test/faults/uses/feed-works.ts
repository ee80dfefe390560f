import type { Feed, NewMessage } from 'perilune'
import { setTestClock } from '../../../src/testing/test-clock.ts'
import type { Place, Work } from './use.ts'

type Call = (feed: Feed<string>) => unknown
type Bounds = readonly [commands: number, elements: number]

const HOUR_MS = 3_600_000
const MOST_SUBSCRIBERS = 20_000

const feedOf = ({ redis, name }: Place): Feed<string> => redis.feed<string>(name, { maxClaims: 3 })

async function fill(
  feed: Feed<string>,
  size: number,
  terms: Omit<NewMessage<string>, 'body'>[],
): Promise<void> {
  for (let n = 0; n < size; n += 1000) {
    const messages = Array.from({ length: Math.min(1000, size - n) }, (_, at) => ({
      body: `message ${n + at}`,
      ...terms[at % terms.length],
    }))
    await feed.appendMany(messages)
  }
}

/** Moves the clock of the feed so far from the server's. */
function moveClock({ driver, namespace, name }: Place, ms: number): Promise<void> {
  return setTestClock(driver, `${namespace}:{feed:${name}}`, (Date.now() + ms) * 1000)
}

function full(what: string, [commands, elements]: Bounds, call: Call): Work {
  const prepare: Work['prepare'] = async (place, size) => {
    const feed = feedOf(place)
    await fill(feed, size, [{ ttl: '2h' }, { ttl: '1h' }, { ttl: '1h' }])
    // So that the calls of this process that come first are over.
    await call(feed)
    return async () => call(feed)
  }
  return { what, commands, elements, prepare }
}

/** After a silence in which all that was to happen with the messages has become due. */
function afterSilence(
  what: string,
  [commands, elements]: Bounds,
  terms: Omit<NewMessage<string>, 'body'>[],
  call: Call,
): Work {
  const prepare: Work['prepare'] = async (place, size) => {
    const feed = feedOf(place)
    await moveClock(place, 0)
    await fill(feed, size, terms)
    await moveClock(place, 3 * HOUR_MS)
    return async () => call(feed)
  }
  return { what, commands, elements, prepare }
}

/** Every message is held by a claim that has run out. */
function afterClaims(what: string, [commands, elements]: Bounds, call: Call): Work {
  const prepare: Work['prepare'] = async (place, size) => {
    const feed = feedOf(place)
    await moveClock(place, 0)
    await fill(feed, size, [{}])
    const claims: Promise<unknown>[] = []
    for (let claimed = 0; claimed < size; claimed += 10) claims.push(feed.claim({ limit: 10, lease: '1m' }))
    await Promise.all(claims)
    await moveClock(place, HOUR_MS)
    return async () => call(feed)
  }
  return { what, commands, elements, prepare }
}

function followed(what: string, [commands, elements]: Bounds, call: Call): Work {
  const prepare: Work['prepare'] = async (place, size) => {
    const feed = feedOf(place)
    await feed.append('first')
    const names = Array.from({ length: Math.min(size, MOST_SUBSCRIBERS) }, (_, n) => `reader ${n}`)
    await Promise.all(names.map((each) => feed.subscriber(each, { protect: true }).cursor()))
    return async () => call(feed)
  }
  return { what, commands, elements, prepare }
}

const advance = async (feed: Feed<string>): Promise<unknown> => {
  const { next } = await feed.read({ limit: 1 })
  return feed.subscriber('reader 7', { protect: true }).commit(next)
}

export const feedWorks: readonly Work[] = [
  full('an append', [16, 120], (feed) => feed.append('one more', { ttl: '1h' })),
  full('a page of twenty from the start', [8, 400], (feed) => feed.read({ limit: 20 })),
  full('a page of twenty at the end', [8, 100], (feed) => feed.read({ limit: 20, after: 'end' })),
  full('a page of twenty without claimed messages', [12, 700], (feed) =>
    feed.read({ limit: 20, includeClaimed: false }),
  ),
  full('a claim of twenty', [30, 1500], (feed) => feed.claim({ limit: 20, lease: '1h' })),
  full('an inspection', [24, 200], (feed) => feed.inspect()),
  afterSilence('an append where all has expired', [700, 9000], [{ ttl: '1h' }], (feed) =>
    feed.append('after the silence'),
  ),
  afterSilence('an append where all is due', [700, 9000], [{ delay: '1h' }], (feed) => feed.append('late')),
  afterSilence('a claim where all has expired', [900, 9000], [{ ttl: '1h' }], (feed) =>
    feed.claim({ limit: 20 }),
  ),
  afterSilence('an inspection where all is due', [5000, 40_000], [{ delay: '1h' }], (feed) => feed.inspect()),
  afterClaims('a claim where all claims ran out', [3000, 30_000], (feed) => feed.claim({ limit: 20 })),
  followed('an advance among many subscribers', [10, 60], advance),
  followed('an inspection of many subscribers', [130, 800], (feed) => feed.inspect()),
]
