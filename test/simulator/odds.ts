// How often what happens in a schedule. Without some rules it takes a rare chain of mishaps until something is wrong: there
// they are not so rare.

import type { Rule } from './rules.ts'

/** Of four hundred steps; what is left lets something through. */
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
}

const USUAL: Steps = {
  increment: 72,
  flush: 48,
  get: 12,
  reconcile: 12,
  age: 8,
  fsync: 24,
  kill: 4,
  restart: 2,
  wipe: 1,
  comeBackOld: 1,
}

const OTHERS: Partial<Record<Rule, Partial<Steps>>> = {
  'load of the epoch': { reconcile: 100, wipe: 16, restart: 0, comeBackOld: 0, kill: 0, get: 4, age: 0 },
}

export function stepsWithout(rule: Rule | null): Steps {
  return { ...USUAL, ...(rule === null ? undefined : OTHERS[rule]) }
}
