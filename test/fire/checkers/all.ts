// The invariants of each structure. Those of every call are in calls.ts.

import { autocomplete } from './autocomplete.ts'
import { cache } from './cache.ts'
import type { Checker } from './checker.ts'
import { collection } from './collection.ts'
import { counters } from './counters.ts'
import { election } from './election.ts'
import { feed } from './feed.ts'
import { feedOptions } from './feed-options.ts'
import { lock } from './lock.ts'
import { once } from './once.ts'
import { queue } from './queue.ts'
import { queueOptions } from './queue-options.ts'
import { rateLimit } from './rate-limit.ts'
import { semaphore } from './semaphore.ts'
import { sharedLock } from './shared-lock.ts'

export const CHECKERS: Readonly<Record<string, Checker>> = {
  feed,
  'feed-claims': queue,
  'feed-partitioned': feed,
  'feed-options': feedOptions,
  lock,
  'shared-lock': sharedLock,
  election,
  semaphore,
  'rate-limit': rateLimit,
  once,
  queue,
  'queue-partitioned': queue,
  'queue-options': queueOptions,
  'queue-options-partitioned': queueOptions,
  cache,
  collection,
  counters,
  'counters-partitioned': counters,
  autocomplete,
}
