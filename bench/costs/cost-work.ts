import type { Place } from '../../test/faults/uses/use.ts'

/** A call whose scripts are measured. */
export interface CostWork {
  readonly structure: string
  readonly what: string
  /** Makes a structure of this size; resolves to the call on it. */
  prepare(place: Place, size: number): Promise<() => unknown>
}
