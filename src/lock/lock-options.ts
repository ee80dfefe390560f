import { checkFlag } from '../runtime/values/arguments.ts'
import type { Duration } from '../runtime/values/duration.ts'
import { checkName, encodeName } from '../runtime/values/keys.ts'
import { toHolder, toLeaseMs } from '../runtime/leases/lease-options.ts'
import type { UnitIdentity } from '../runtime/connection/unit.ts'
import type { AcquireTerms } from './attempts.ts'

const SINCE = '6.2.0'

export interface LockOptions {
  /**
   * The length of the lease, 10 ms to 30 days. It is extended automatically while the lock is held. A lease below 100
   * ms may expire nevertheless when a renewal is a few milliseconds late. Default: 30 seconds.
   */
  lease?: Duration
  /**
   * The longest time for which the lease is extended automatically, counted from its grant; `'0s'`: never extended.
   * Default: no limit.
   */
  maxHold?: Duration
  /**
   * True: a free lock goes to the first waiter in line. False: it goes to the first caller that asks, even before
   * waiters in line. Default: true.
   */
  fair?: boolean
  /**
   * Locks of one group share a slot, so that `redis.locks` can acquire several in one step. The same name in another
   * group is another lock. Default: each lock has a slot by its name.
   */
  group?: string
  /** The name of the holder in `inspect`, up to 128 bytes. Default: host name and process id. */
  holder?: string
}

/** Locks of a group share the hash tag of the group; their own names follow it. */
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
