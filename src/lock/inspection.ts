import { inspect } from '../generated/lock.ts'
import type { Unit } from '../runtime/connection/unit.ts'

/** The state of a lock when it was read, for monitoring: it may be outdated when it arrives. */
export interface LockInspection {
  /** `shared` when readers hold it. */
  readonly mode: 'free' | 'held' | 'shared'
  /** The newest token granted; null when the lock was never held, or not for a long time. */
  readonly token: number | null
  /** At most 100 holders, those whose leases end soonest first. */
  readonly holders: readonly {
    readonly token: number
    /** When the lease ends, in milliseconds of the server's clock. */
    readonly expiresAtMs: number
    readonly holder: string
  }[]
  /** The number of waiters in line. */
  readonly waiting: number
  /** The first 100 waiters. */
  readonly line: readonly { readonly holder: string; readonly shared: boolean }[]
}

export async function inspectLock(unit: Unit): Promise<LockInspection> {
  const answer = await unit.run(inspect, {})
  return {
    mode: answer.mode === 'x' ? 'held' : answer.mode === 's' ? 'shared' : 'free',
    token: answer.token === 0 ? null : answer.token,
    holders: answer.leases,
    waiting: answer.waiting,
    line: answer.line.map(({ kind, holder }) => ({ holder, shared: kind === 's' })),
  }
}
