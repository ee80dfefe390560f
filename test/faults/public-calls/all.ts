import type { Perilune } from 'perilune'
import { type Group, gives, group, type PublicCall } from './call.ts'
import { coordination } from './coordination.ts'
import { feeds } from './feeds.ts'
import { queues } from './queues.ts'
import { values } from './values.ts'

const facade: Group = group<Perilune>('Perilune', (redis) => redis, {
  feed: gives((redis) => redis.feed('a')),
  lock: gives((redis) => redis.lock('a')),
  semaphore: gives((redis) => redis.semaphore('a', { limit: 1 })),
  locks: gives((redis) => redis.locks(['a'])),
  election: gives((redis) => redis.election('a')),
  fenced: gives((redis) => redis.fenced('a')),
  once: gives((redis) => redis.once('a')),
  queue: gives((redis) => redis.queue('a')),
  cache: gives((redis) => redis.cache('a')),
  rateLimit: gives((redis) => redis.rateLimit('a', { limit: 1, window: '1s' })),
  collection: gives((redis) => redis.collection('a', { kind: 'list' })),
  autocomplete: gives((redis) => redis.autocomplete('a')),
  counters: gives((redis) => redis.counters('a', { sink: { apply: () => undefined } as never })),
  catalog: gives((redis) => redis.catalog('a')),
  preload: (redis) => redis.preload(),
  healthy: gives((redis) => redis.healthy()),
  close: gives((redis) => redis.close()),
  [Symbol.asyncDispose]: gives((redis) => redis[Symbol.asyncDispose]()),
})

export type { PublicCall } from './call.ts'
export const groups: readonly Group[] = [facade, ...coordination, ...feeds, ...queues, ...values]

export const calls: readonly PublicCall[] = groups.flatMap((each) => each.calls)
