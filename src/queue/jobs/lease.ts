// One attempt at one job: what holds its lease, and why it lost the job.

/** What a lease needs to be kept. */
export interface Leased {
  /** What the scripts call the job. */
  readonly number: string
  /** Greater than that of every earlier attempt at any job of the queue. */
  readonly token: number
}

export type LossReason = 'lost' | 'retried' | 'buried' | 'cancelled' | 'acked' | 'absent'

/** Why jobs of a call were refused, by their places. */
export function reasonsOf(
  refused: readonly { readonly at: number; readonly why: string }[],
): ReadonlyMap<number, LossReason> {
  return new Map(refused.map(({ at, why }) => [at, why as LossReason]))
}
