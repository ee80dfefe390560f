// What silence.ts needs from a client library.

import type { Line, LineEvents } from './line.ts'
import type { PendingRun } from './pending-runs.ts'

/** `Spot`: a connection of the client library. */
export interface WatchedConnections<Spot extends object> {
  /** The minimum number of rounds before a connection is doubted. */
  readonly patience: number
  /** Runs with an equal place use one connection; undefined when the place is unknown. */
  placeOf(run: Pick<PendingRun<Spot>, 'key' | 'node'>): unknown
  /** The connection that owes this answer; undefined when there is none now, or it must not be dropped. */
  over(run: PendingRun<Spot>): Spot | undefined | Promise<Spot | undefined>
  /** The number of rounds without a sign of life before it is doubted, in addition to the transfer time of the call. */
  patienceWith(run: PendingRun<Spot>, spot: Spot): number
  /** The number of bytes to send before it is answered. */
  sent(run: PendingRun<Spot>, spot: Spot): number
  /** Changes whenever the connection is replaced, or data was read on it, if the library shows that. */
  signs(spot: Spot): Signs
  /** Opens a second connection of the same kind. */
  open(spot: Spot, events: LineEvents): Promise<Line>
  /** Ends the connection; the client reconnects. */
  drop(spot: Spot): void
  /**
   * Its server does not answer on a new connection either, or has been silent for long: another server may have
   * replaced it.
   */
  away(spot: Spot): void
}

export interface Signs {
  readonly of: object
  readonly read: number
}
