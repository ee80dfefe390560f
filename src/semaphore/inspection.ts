import { inspect } from '../generated/semaphore.ts'
import type { Unit } from '../runtime/connection/unit.ts'

/** A picture of a semaphore; for people, for it may be old when it arrives. */
export interface SemaphoreInspection {
  /** How much may be out at once. */
  readonly limit: number
  /** Whether `resize` has set the limit. */
  readonly resized: boolean
  /** Weight of all permits that are out; above the limit after it was lowered. */
  readonly used: number
  /** The newest token granted; null when there was none, or long ago. */
  readonly token: number | null
  /** At most 100, soonest to end first. */
  readonly permits: readonly {
    readonly token: number
    readonly expiresAtMs: number
    readonly weight: number
    readonly holder: string
  }[]
  /** How many stand in line. */
  readonly waiting: number
  /** The first 100 of them. */
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
