// What the bench and a process of readers tell each other: a job, that it is open, when to begin, what happened.

import type { Refusal } from '../harness/answering.ts'

/** What all processes do together. */
export interface Work {
  /** How long a value is kept. */
  readonly freshMs: number
  /** How long a load takes, once it has a connection. */
  readonly loadMs: number
  /** Loads at once in each process; Infinity: as many as are asked for. */
  readonly connections: number
  readonly task: Task
}

export type Task =
  /** All readers of all processes at once, each reads one key once. */
  | { readonly kind: 'once'; readonly key: string; readonly readers: number }
  /** So many readers of one key, again and again for so long, who think about as long as `thinkMs` in between. */
  | {
      readonly kind: 'again'
      readonly key: string
      readonly readers: number
      readonly ms: number
      readonly thinkMs: number
    }
  | Through

/** Values are loaded to end all at one time, `fillMs` after the beginning, and read from before that to after it. */
export interface Through {
  readonly kind: 'through'
  readonly keys: number
  readonly fillMs: number
  readonly aheadMs: number
  readonly afterMs: number
  /** Of all processes together; they do not wait for each other's answers, as the users of a service do not. */
  readonly readsPerSecond: number
}

export interface Job {
  readonly port: number
  readonly contender: string
  readonly work: Work
  /** The number of this process, from 0, of so many. */
  readonly at: number
  readonly processes: number
}

export const OPEN = 'open'

/** When all begin, by the machine's monotonic clock. */
export interface Go {
  readonly fromMs: number
}

/** One load; times by the machine's monotonic clock, from the question to its answer. */
export interface LoadNote {
  readonly key: string
  readonly askedAtMs: number
  readonly answeredAtMs: number
}

export interface Report {
  readonly loads: readonly LoadNote[]
  /** When each read began, and how long it took. */
  readonly readAtMs: readonly number[]
  readonly readTookMs: readonly number[]
  /** Reads that failed, or gave something else than the value. */
  readonly errors: number
  readonly complaint: string | null
}

export type Answer = typeof OPEN | Refusal | Report
