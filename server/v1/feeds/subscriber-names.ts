// Looking at a subscriber without making it, which the library's `marker()` would.

import type { Feed, SubscriberOptions } from 'perilune'

export interface Made {
  readonly marker: string
  readonly created: boolean
}

/** The stored marker, or null when there is no such subscriber. */
export async function findSubscriber(feed: Feed<unknown>, name: string): Promise<string | null> {
  const { next } = await feed.read({ after: 'end', limit: 1 })
  const [life = '0'] = next.split('-')
  // A subscriber only moves forward, so the beginning of this life of the feed moves none.
  return feed.subscriber(name).advance(`${life}-0`)
}

export async function makeSubscriber(
  feed: Feed<string>,
  name: string,
  options: SubscriberOptions,
): Promise<Made> {
  const subscriber = feed.subscriber(name, options)
  const known = await findSubscriber(feed, name)
  return { marker: await subscriber.marker(), created: known === null }
}
