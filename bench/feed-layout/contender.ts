/** What every contender can do; `prefix` begins all its keys and only them. */
export interface Log {
  readonly prefix: string
  /** Appends in one step, and resolves to the markers of the messages. */
  append(bodies: readonly string[]): Promise<string[]>
  /** Resolves to the number of messages read. */
  page(after: string): Promise<number>
}

/** Acks a claim: all of it, or only its first messages. */
export type Ack = (count?: number) => Promise<unknown>

export interface Feed extends Log {
  claim(): Promise<Ack>
}

/** Of a page and of a claim. */
export const PAGE = 20
/** A day: nothing expires while the bench runs. */
export const LIFE_MS = 86_400_000
export const ORIGIN = 'bench'
