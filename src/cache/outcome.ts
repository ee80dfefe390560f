/** What became of a load. */
export type Outcome<Value> =
  /** `holds`: also for those who asked while it was under way. */
  | { readonly status: 'loaded'; readonly value: Value; readonly holds: boolean }
  | { readonly status: 'failed'; readonly error: unknown }
  /** Begin again. */
  | { readonly status: 'lost' }

/** The same for whoever wanted to load, and may have found another one at it. */
export type LoadOutcome<Value> =
  | Outcome<Value>
  /** Another process is at it, or it rests after a failure: for so long. */
  | { readonly status: 'elsewhere'; readonly ms: number }
  /** Another process is still at it when the time is over. */
  | { readonly status: 'late' }

/** A load that others of this process may join. */
export interface Joinable<Value> {
  /** Rejects when the server cannot decide. */
  readonly outcome: Promise<LoadOutcome<Value>>
}
