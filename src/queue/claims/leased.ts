/** What a lease needs to be kept. */
export interface Leased {
  /** What the scripts call the job. */
  readonly number: string
  /** Greater than that of every earlier attempt at any job of the queue. */
  readonly token: number
}
