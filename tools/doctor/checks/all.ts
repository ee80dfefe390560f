import type { Check } from '../check.ts'
import { clock } from './clock.ts'
import { connections } from './connections.ts'
import { latency } from './latency.ts'
import { biggest, expiry, layouts } from './leftovers.ts'
import { eviction, memory } from './memory.ts'
import { permissions } from './permissions.ts'
import { persistence } from './persistence.ts'
import { pubsub } from './pubsub.ts'
import { reach } from './reach.ts'
import { replication } from './replication.ts'
import { scripts } from './scripts.ts'
import { slowLog } from './slow-log.ts'
import { subscriptions } from './subscriptions.ts'
import { tls } from './tls.ts'
import { topology } from './topology.ts'
import { version } from './version.ts'
import { writes } from './writes.ts'

/** In the order of the report. */
export const CHECKS: readonly Check[] = [
  reach,
  tls,
  version,
  topology,
  writes,
  permissions,
  scripts,
  eviction,
  memory,
  persistence,
  replication,
  clock,
  latency,
  pubsub,
  subscriptions,
  connections,
  slowLog,
  layouts,
  expiry,
  biggest,
]

/** Those that need no server. */
export const FIRST: ReadonlySet<Check> = new Set([reach, tls])

/** Those that measure time run alone, so that the others do not disturb them. */
export const ALONE: readonly Check[] = [latency, clock, pubsub]
