// What silence.ts has to know of a client library.

import type { Line, LineEvents } from './line.ts'
import type { PendingRun } from './pending-runs.ts'

export const NO_EVENTS: LineEvents = {
  onMessage: () => undefined,
  onLeft: () => undefined,
  onLost: () => undefined,
}

/** `Spot`: a connection, as the client library has it. */
export interface WatchedConnections<Spot extends object> {
  /** No connection is doubted before so many rounds. */
  readonly patience: number
  /** Those of one place are due over one connection, whichever that is; undefined: nobody knows where. */
  placeOf(run: Pick<PendingRun<Spot>, 'key' | 'node'>): unknown
  /** The connection over which an answer is due; undefined: there is none just now, or it must not be dropped. */
  over(run: PendingRun<Spot>): Spot | undefined | Promise<Spot | undefined>
  /** After so many rounds without a sign it is doubted, besides the time that it may take for what was sent to go out. */
  patienceWith(run: PendingRun<Spot>, spot: Spot): number
  /** How many bytes go out before it is answered. */
  sent(run: PendingRun<Spot>, spot: Spot): number
  /** Others whenever it is another one, or something was read over it, where the library tells. */
  signs(spot: Spot): Signs
  /** Opens another one like it. */
  open(spot: Spot): Promise<Line>
  /** Ends it; the client connects again. */
  drop(spot: Spot): void
  /** Its server does not answer on a new connection either, or has not for long: there may be another one in its place. */
  away(spot: Spot): void
}

export interface Signs {
  readonly of: object
  readonly read: number
}
