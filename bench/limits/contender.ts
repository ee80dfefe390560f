// What a rate limiter must offer to be measured. A contender is one file that exports one `Contender`, and a
// line in bench/limits/contenders.ts.

import type { Redis } from 'ioredis'

export interface Contender {
  readonly name: string
  /** What was set and what was left alone, for the reader of the numbers. */
  readonly settings: string
  /** The package of bench/peers that it is. */
  readonly peer?: string
  /** Throws when the contender cannot run here. */
  connect(connection: Redis): Promise<Source>
}

/** On a connection with auto-pipelining: what is called in one tick is sent together. */
export interface Source {
  /** One unit of a subject's limit, which no bench exhausts. */
  take(subject: string): Promise<unknown>
  /** The connection that was handed in stays open. */
  close(): Promise<void>
}

/** All limiters allow this much. */
export const LIMIT = 10_000_000
export const WINDOW_S = 60

export const PERILUNE = 'Perilune'
