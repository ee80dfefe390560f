// What the bench and a process of contending clients tell each other: a job, that it is open, go, the crowd.

import type { Refusal } from '../harness/answering.ts'
import type { Terms } from './contender.ts'
import type { Contention, Crowd } from './crowd.ts'

export interface Job {
  readonly port: number
  /** The list that names the contender. */
  readonly kind: 'lock' | 'semaphore'
  readonly contender: string
  readonly terms: Terms
  readonly contention: Contention
  /** Of this process, all on one connection if the contender can. */
  readonly clients: number
  /** The number of the first of them. */
  readonly first: number
  /** How far the clock of this process is ahead of the true one. */
  readonly skewMs: number
}

export const OPEN = 'open'

export const GO = 'go'

export type Answer = typeof OPEN | Refusal | Crowd
