// What a queue must offer to be measured. A contender is one file that exports one `Contender`, and a line in
// bench/queue/contenders.ts.

export interface Contender {
  readonly name: string
  /** What was set and what was left alone, for the reader of the numbers. */
  readonly settings: string
  /** The package of bench/peers that it is. */
  readonly peer?: string
  /** What of a `Job` it heeds, beside the payload. */
  readonly heeds: readonly (keyof Job)[]
  /**
   * Opens connections of its own. Throws when the contender cannot run here. Between rounds the bench empties
   * the server, but for its scripts; what was opened must work on.
   */
  connect(port: number, queue: string): Promise<Source>
}

export interface Job {
  /** Ten bytes. */
  readonly payload: string
  /** How often it may run; one without it. A second attempt follows at once. */
  readonly attempts?: number
  /** From 1 to 10, the first is the most urgent. */
  readonly priority?: number
  readonly group?: string
}

/** A queue as its package offers it; what it does not offer is absent, and is not measured. */
export interface Source {
  /**
   * Commands that it sends beside scripts, and that its scripts do not call. Not EXEC, which counts the time of
   * what it runs once more.
   */
  readonly sends: readonly string[]
  /** Resolves once the server has the job. */
  add(job: Job): Promise<unknown>
  /** The package's own call for many. */
  addBulk?(jobs: readonly Job[]): Promise<unknown>
  /** A worker that is connected and takes nothing yet. */
  work?(terms: WorkTerms): Promise<Worker>
  /** The longest waiting job, at once; resolves to what completes it. Throws when none waits. */
  pop?(): Promise<() => Promise<unknown>>
  /** As `pop`, where one call completes a job and pops the next: each call does, but for the first and the last. */
  popNext?(): Promise<unknown>
  close(): Promise<void>
}

export interface WorkTerms {
  /** Jobs under way at the same time. */
  readonly concurrency: number
  /** What throws has failed, and runs again if its job has attempts left. */
  handle(payload: string): Promise<unknown>
  /** After each job that succeeded, once the server knows. */
  done(): void
}

export interface Worker {
  /** Begins to take jobs. */
  start(): void
  /** Resolves when the jobs under way are done. */
  close(): Promise<void>
}

export const PERILUNE = 'Perilune'
