// What a way of counting votes must offer to be measured. A contender is one file that exports one or more
// `Contender`s, and a line for each in bench/counters/contenders.ts.

import type { Database, Kind } from './database.ts'

export interface Contender {
  readonly name: string
  /** What it does, and what is wrong with it, for the reader of the numbers. */
  readonly settings: string
  /** Where it can be measured; default everywhere. */
  readonly on?: readonly Kind[]
  /** True where the table of votes has the columns by which uncounted rows are known. */
  readonly countsRows?: boolean
  /** How often it writes behind; default EVERY_MS. */
  readonly everyMs?: number
  /** Makes what it needs besides the tables that everybody has. */
  open(stage: Stage): Promise<Voting>
}

/** A place of its own: tables in the database, names in Redis. */
export interface Stage {
  readonly database: Database
  readonly redisPort: number
  /** What its tables and keys begin with: no other contender has it. */
  readonly name: string
  /** Votes: `voter` and `item`, which are unique together. */
  readonly votes: string
  /** Items: `id` and `votes`, their number. */
  readonly items: string
}

export interface Voting {
  /** Tables are empty but for these items, which have no votes: it may warm up, and begin to work in the background. */
  begin?(items: readonly number[]): Promise<unknown>
  /** Resolves when the voter may learn that the vote is counted. */
  vote(voter: number, item: number): Promise<unknown>
  /** Ends what works in the background, once the database has all. */
  settle?(): Promise<unknown>
  /** What has `id` and `votes` of each item; default the table of items. Null: nothing is counted. */
  readonly counts?: string | null
  /** True where a vote is no row: then as many count as were acknowledged. */
  readonly withoutRows?: boolean
  close?(): Promise<unknown>
}

export const NAIVE = 'INSERT and UPDATE'
export const INCR = 'INCR, auto-pipelined'
export const LEAST = 'the least that keeps the promises'
export const DERIVED = 'Perilune events'
export const DERIVED_ASIDE = 'Perilune events, noted on the side'
export const DERIVED_EACH_SECOND = 'Perilune events, each second'
export const DERIVED_ALONE = 'Perilune events, no roll-up'
export const DELTA = 'Perilune sink'
export const DELTA_ALONE = 'Perilune sink, no flush'
export const BY_HAND = 'INSERT, rolled up by hand'

/** The interval of deferred writes, unless a contender sets another. */
export const EVERY_MS = 200
