// What the bench and the process that makes the load tell each other.

/** What the parent sends. */
export interface Job extends Work {
  readonly host: string
  readonly port: number
}

export interface Work {
  readonly connections: number
  /** Whole requests, sent in turn; each connection begins elsewhere in the list. */
  readonly requests: readonly string[]
  /** Requests of all connections together. */
  readonly count: number
  /** The job ends early after this time. */
  readonly limitMs: number
}

/** What comes back when all connections are open, and the load begins. */
export const OPEN = 'open'

/** What comes back when it is done. */
export interface Load {
  readonly latenciesMs: Float64Array
  readonly seconds: number
  /** Answers that were not 2xx, and connections that broke. */
  readonly errors: number
  /** One of the answers that were not 2xx. */
  readonly complaint: string | null
  /** Of this process, for each request. */
  readonly clientCpuUs: number
}
