import { inspect } from '../generated/semaphore.ts'
import type { Unit } from '../runtime/connection/unit.ts'

/** The state of a semaphore when it was read, for monitoring: it may be outdated when it arrives. */
export interface SemaphoreInspection {
  /** The greatest total weight of permits granted at once. */
  readonly limit: number
  /** Whether `resize` has set the limit. */
  readonly resized: boolean
  /** The total weight of all granted permits. It exceeds the limit after the limit was lowered below it. */
  readonly used: number
  /** The newest token granted; null when none was granted, or not for a long time. */
  readonly token: number | null
  /** At most 100 permits, those whose leases end soonest first. */
  readonly permits: readonly {
    readonly token: number
    /** When the lease ends, in milliseconds of the server's clock. */
    readonly expiresAtMs: number
    readonly weight: number
    readonly holder: string
  }[]
  /** The number of waiters in line. */
  readonly waiting: number
  /** The first 100 waiters. */
  readonly line: readonly { readonly weight: number; readonly holder: string }[]
}

export async function inspectSemaphore(unit: Unit, limit: number): Promise<SemaphoreInspection> {
  const { status: _, nowMs: _now, token, line, ...rest } = await unit.run(inspect, { limit })
  return {
    ...rest,
    token: token === 0 ? null : token,
    line: line.map(({ weight, holder }) => ({ weight, holder })),
  }
}
