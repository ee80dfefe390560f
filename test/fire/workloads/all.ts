// The workloads of a run. For a new structure: a file next to this one, a line here, and a line in ../checkers/all.ts.

import { autocomplete } from './autocomplete.ts'
import { cache } from './cache.ts'
import { collection } from './collection.ts'
import { counters, countersPartitioned } from './counters.ts'
import { election } from './election.ts'
import { feed, feedPartitioned } from './feed.ts'
import { feedClaims } from './feed-claims.ts'
import { feedOptions } from './feed-options.ts'
import { lock } from './lock.ts'
import { once } from './once.ts'
import { queue, queuePartitioned } from './queue.ts'
import { queueOptions, queueOptionsPartitioned } from './queue-options.ts'
import { rateLimit } from './rate-limit.ts'
import { semaphore } from './semaphore.ts'
import { sharedLock } from './shared-lock.ts'
import type { Workload } from './workload.ts'

export const WORKLOADS: Readonly<Record<string, Workload>> = {
  feed,
  'feed-claims': feedClaims,
  'feed-partitioned': feedPartitioned,
  'feed-options': feedOptions,
  lock,
  'shared-lock': sharedLock,
  election,
  semaphore,
  'rate-limit': rateLimit,
  once,
  queue,
  'queue-partitioned': queuePartitioned,
  'queue-options': queueOptions,
  'queue-options-partitioned': queueOptionsPartitioned,
  cache,
  collection,
  counters,
  'counters-partitioned': countersPartitioned,
  autocomplete,
}
