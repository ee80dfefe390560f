// A player of the response table: a service in one framework that sends each row, with the middleware and without it.

import type { Cache, Once, RateLimit } from 'perilune'
import type { KeptResponse, StoredResponse } from 'perilune/middleware'
import { type Around, type Form, MOST_BYTES } from './response-table.ts'

export interface Stores {
  readonly once: Once<StoredResponse>
  readonly cache: Cache<KeptResponse>
  /** Both limit every client, one after the other. */
  readonly limits: readonly [RateLimit, RateLimit]
}

/**
 * `/plain/<around>/<row>` sends a row by the bare handler, `/once/…` behind `idempotency`, `/kept/…` behind
 * `responseCache`; `/limited/<around>` is behind two limits; `/after` answers `after`.
 */
export interface Player {
  readonly name: string
  readonly forms: ReadonlySet<Form['as']>
  /**
   * Forms whose compressed response is broken off, without the middleware: the head has been sent when the handler
   * fails.
   */
  readonly brokenOff?: ReadonlySet<Form['as']>
  /** Resolves to the port that it listens on. */
  start(stores: Stores): Promise<number>
}

export const ONCE: { maxBytes: number } = { maxBytes: MOST_BYTES }
export const CACHE: { maxBytes: number; stripCookies: boolean; vary: string[] } = {
  maxBytes: MOST_BYTES,
  // A session sets its own.
  stripCookies: true,
  vary: ['origin', 'accept-encoding'],
}
export const EVERYBODY: { subject: () => string } = { subject: () => 'everybody' }

export interface Place {
  readonly kind: 'plain' | 'once' | 'kept' | 'limited' | 'after'
  readonly around: Around
  readonly row: number
}

export function placeOf(path: string): Place {
  const [kind, around, row] = path.split('?', 1)[0]?.split('/').slice(1) ?? []
  return { kind, around, row: Number(row) } as Place
}
