// The events of a schedule, and the outcomes of its increments.

export interface Happened {
  increments: number
  killed: number
  crashes: number
  wipes: number
  oldCopies: number
  sqlCrashes: number
  oldSqlCopies: number
  aged: number
  lost: number
}

/** Before anything has. */
export const NOTHING: Readonly<Happened> = {
  increments: 0,
  killed: 0,
  crashes: 0,
  wipes: 0,
  oldCopies: 0,
  sqlCrashes: 0,
  oldSqlCopies: 0,
  aged: 0,
  lost: 0,
}

export interface Verdict {
  readonly faults: readonly string[]
  /** The events in their order, for people. */
  readonly story: readonly string[]
  readonly happened: Happened
}

export interface Counted {
  readonly id: string
  readonly digit: number
  readonly owner: string
  acked: number | null
  /** It may have been counted and lost before its answer arrived, or the answer was never received. */
  isForgiven: boolean
  /** How often it may be in the database, at rest. */
  least: 0 | 1
  most: 1 | 2
}

export function startedBy(owner: string, id: string, digit: number): Counted {
  return { id, digit, owner, acked: null, isForgiven: false, least: 0, most: 1 }
}

/** An increment is a digit of base 4 of the value: how often it has arrived is read from it. */
export function arrivalsOf({ id, digit }: Counted, values: ReadonlyMap<string, bigint>): number {
  return Number(((values.get(id) ?? 0n) >> BigInt(2 * digit)) & 3n)
}

/** The faults of that. */
export function faultsOf({ digit, least, most }: Counted, times: number): string[] {
  const faults: string[] = []
  if (times < least) faults.push(`an acked increment is lost: ${digit}`)
  if (times > most) faults.push(`an increment is there ${times} times: ${digit}`)
  return faults
}

/** An operation that was begun does not end. */
export class Restless extends Error {
  constructor(underWay: number, passes: number, idleMs: number) {
    super(`${underWay} calls do not end, after ${passes} steps and ${idleMs} ms without one`)
  }
}

/** Whether Redis or the database has begun a life that does not know all of an earlier one. */
export function hasForgotten({ wipes, oldCopies, oldSqlCopies }: Happened): boolean {
  return wipes + oldCopies + oldSqlCopies > 0
}
