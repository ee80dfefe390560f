// Unanswered calls stay in the client, because answers come in order, even after their callers have given up. A process
// that keeps calling would grow for as long as the server hangs. So a connection with a large, old backlog accepts no
// more calls until the backlog has shrunk. The runtime retries rejected calls until their deadline.

import type { WatchedConnections } from './watched-connections.ts'
import type { PendingRuns } from './pending-runs.ts'

/** Five seconds: with the default deadline no caller waits longer. */
const LONG_ROUNDS = 10
const MOST_RUNS = 10_000
const MOST_BYTES = 64 * 1024 * 1024

/** The reason why a call was not sent. */
export const TOO_MUCH_DUE = 'too many calls are due over the connection'

export class ClientBacklog<Spot extends object> {
  readonly #pending: PendingRuns<Spot>
  readonly #placeOf: WatchedConnections<Spot>['placeOf']
  readonly #stopRounds: () => void
  /** The connections whose backlog was too large in the last round. */
  #full = new Set<unknown>()

  constructor(pending: PendingRuns<Spot>, { placeOf }: Pick<WatchedConnections<Spot>, 'placeOf'>) {
    this.#pending = pending
    this.#placeOf = placeOf
    this.#stopRounds = pending.onRound(() => this.#look())
  }

  /** True when the connection for this key accepts no more calls at the moment. */
  isFull(key: string): boolean {
    if (this.#full.size === 0) return false
    if (this.#pending.idle) this.#full.clear()
    return this.#full.has(this.#placeOf({ key }))
  }

  close(): void {
    this.#stopRounds()
    this.#full.clear()
  }

  #look(): void {
    const sums = new Map<unknown, { runs: number; bytes: number }>()
    for (const run of this.#pending.dueFor(LONG_ROUNDS)) {
      const place = this.#placeOf(run)
      const sum = sums.get(place) ?? { runs: 0, bytes: 0 }
      sums.set(place, sum)
      sum.runs += 1
      sum.bytes += run.bytes ?? 0
    }
    sums.delete(undefined)
    this.#full = new Set()
    for (const [place, { runs, bytes }] of sums) {
      if (runs >= MOST_RUNS || bytes >= MOST_BYTES) this.#full.add(place)
    }
  }
}
