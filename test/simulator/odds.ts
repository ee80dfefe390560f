// How often each event happens in a schedule.

/** Of four hundred steps; the remaining ones let a held message through. */
export interface Steps {
  readonly increment: number
  readonly flush: number
  readonly get: number
  readonly reconcile: number
  readonly age: number
  readonly fsync: number
  readonly kill: number
  readonly restart: number
  readonly wipe: number
  readonly comeBackOld: number
  readonly sqlComesBackOld: number
}

export const ODDS: Steps = {
  increment: 68,
  flush: 48,
  get: 12,
  reconcile: 12,
  age: 8,
  fsync: 24,
  kill: 4,
  restart: 2,
  wipe: 1,
  comeBackOld: 1,
  sqlComesBackOld: 4,
}
