// What a cache must offer to be measured. A contender is one file that exports one or more `Contender`s, and a line
// for each in bench/cache/contenders.ts.

export interface Contender {
  readonly name: string
  /** What was set and what was left alone, for the reader of the numbers. */
  readonly settings: string
  /** The package of bench/peers that it is. */
  readonly peer?: string
  /** Throws when the contender cannot run here. */
  connect(port: number, terms: Terms): Promise<Source>
}

/** A cache that stands on a connection of its own. */
export interface Source {
  /** The value that is kept, or what `load` finds. */
  get(key: string, load: Load): Promise<Entry | undefined>
  /** Loads a value that ends at this time of the machine's monotonic clock; not every contender can. */
  fill?(key: string, load: Load, endsAtMs: number): Promise<unknown>
  close(): Promise<unknown>
}

export interface Terms {
  /** How long a value is kept. */
  readonly freshMs: number
}

export type Load = () => Promise<Entry>

/** What is cached. */
export interface Entry {
  readonly id: string
  readonly text: string
}

const BYTES = 500

/** Its JSON has 500 bytes; `key` is short. */
export function toEntry(key: string, bytes: number = BYTES): Entry {
  const without = JSON.stringify({ id: key, text: '' }).length
  return { id: key, text: 'x'.repeat(bytes - without) }
}

/** The same clock in all processes of a machine. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** What is left until then, in whole milliseconds; at least one. */
export function leftMs(endsAtMs: number): number {
  return Math.max(1, Math.round(endsAtMs - nowMs()))
}

export const PERILUNE = 'Perilune'
export const TAGGED = 'Perilune, a tag'
export const STALE = 'Perilune, staleWhileRevalidate'
/** The only one that keeps values in the process. */
export const IN_PROCESS = 'Perilune, in the process, too'
