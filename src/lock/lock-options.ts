import { checkFlag } from '../runtime/values/arguments.ts'
import type { Duration } from '../runtime/values/duration.ts'
import { checkName, encodeName } from '../runtime/values/keys.ts'
import { toHolder, toLeaseMs } from '../runtime/leases/lease-options.ts'
import type { UnitIdentity } from '../runtime/connection/unit.ts'
import type { AcquireTerms } from './attempts.ts'

const SINCE = '6.2.0'

export interface LockOptions {
  /** How long the lock is leased; it is extended while it is held. Default 30 seconds. */
  lease?: Duration
  /** How long it is extended by itself at most, from its grant on; '0s': not at all. Default: no limit. */
  maxHold?: Duration
  /**
   * True: the first in line gets a lock that becomes free. False: the first that asks gets it, also ahead of those in line.
   * Default true.
   */
  fair?: boolean
  /**
   * Locks of one group lie in one slot, so that several of them can be acquired at once (`redis.locks`). A lock
   * is another lock in another group. Default: each lies where its name puts it.
   */
  group?: string
  /** What `inspect` calls the holder; default: host name and process id. */
  holder?: string
}

/** Locks of a group share the tag of the group; their own names stand behind it. */
export function placeOf(name: string, group: string | undefined): UnitIdentity {
  if (group === undefined) return { structure: 'lock', name, since: SINCE }
  return { structure: 'lock', name: checkName('group', group), beside: `${encodeName(name)}-`, since: SINCE }
}

export function toTerms({ lease, fair = true, holder }: LockOptions): AcquireTerms {
  return {
    leaseMs: toLeaseMs(lease),
    barging: !checkFlag('fair', fair),
    holder: toHolder(holder),
  }
}
