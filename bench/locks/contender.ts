// What a lock or a semaphore must offer to be measured. A contender is one file that exports one
// `Contender`, and a line in the list of its bench.

import type { Redis } from 'ioredis'

export interface Contender {
  readonly name: string
  /** What was set and what was left alone, for the reader of the numbers. */
  readonly settings: string
  /** The package of bench/peers that it is. */
  readonly peer?: string
  /** True when two clients cannot share a connection. */
  readonly ownConnection?: boolean
  /** What a process sets up once for a connection. Throws when the contender cannot run here. */
  connect(connection: Redis, terms: Terms): Promise<Source>
}

/** One connection and what stands on it. */
export interface Source {
  client(): Client
  /** Connections that the contender opened itself: their commands count too. */
  readonly connections?: readonly Redis[]
  /** The connection that was handed in stays open. */
  close(): Promise<void>
}

/** One that waits for the lock, holds it and gives it back, again and again; never twice at once. */
export interface Client {
  /** How often it asked the server for the lock. */
  readonly tries: number
  /** Waits; resolves to what gives the lock back. Throws when `giveUpMs` have passed. */
  acquire(): Promise<() => Promise<unknown>>
}

export interface Terms {
  readonly name: string
  /** Holders at the same time. */
  readonly limit: number
  readonly leaseMs: number
  readonly giveUpMs: number
  /** Between the tries of those that poll. */
  readonly retryMs: number
}

export const TERMS: Terms = { name: 'bench', limit: 1, leaseMs: 10_000, giveUpMs: 60_000, retryMs: 1 }

/** For contenders that may lose a wake, and hang until they give up: few seconds, that a round ends. */
export function bounded(terms: Terms, quick: boolean): Terms {
  return { ...terms, giveUpMs: quick ? 2000 : 10_000 }
}

export const PERILUNE = 'Perilune'
export const BARGING = 'Perilune, barging'
