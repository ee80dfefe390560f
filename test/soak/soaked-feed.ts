// The interface of a feed for a soak, so that another kind of feed can be soaked, too.

import type { Claim, Feed, Perilune } from 'perilune'

export interface Entry {
  message: string
  id: string
  lostBefore: 'gap' | 'reset' | null
}

export interface SoakedFeed {
  /** Resolves to the id. */
  append(message: string): Promise<string>
  /** Follows the feed from its beginning until the signal aborts, and then to its end. */
  follow(signal: AbortSignal): AsyncIterable<Entry>
  /** Null where nothing can be claimed. */
  claim(options: { limit: number; lease: `${number}ms`; wait: `${number}ms` }): Promise<Claim<string> | null>
}

export function guarded(redis: Perilune, name: string): SoakedFeed {
  const feed = redis.feed<string>(name)
  return {
    append: async (message) => (await feed.append(message)).id,
    follow: (signal) => follow(feed, signal),
    claim: (options) => feed.claim(options),
  }
}

async function* follow(feed: Feed<string>, signal: AbortSignal): AsyncGenerator<Entry> {
  let after: string | undefined
  try {
    for await (const { id, body, cursor: marker, lostBefore } of feed.tail({ limit: 50, signal })) {
      after = marker ?? after
      yield { id, message: body, lostBefore: lostBefore === 'undecodable' ? null : lostBefore }
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
  yield* readOn(feed, after)
}

/** Reads the present content. */
async function* readOn(feed: Feed<string>, from: string | undefined): AsyncGenerator<Entry> {
  let after = from
  for (;;) {
    const page = await feed.read({ limit: 1000, ...(after === undefined ? {} : { after }) })
    let lostBefore: Entry['lostBefore'] = page.reset ? 'reset' : page.gap ? 'gap' : null
    for (const { id, body } of page.messages) {
      yield { id, message: body, lostBefore }
      lostBefore = null
    }
    if (!page.more) return
    after = page.next
  }
}
