// How a line of the ledger says that its epoch takes no more batches: its `seq` is -1 - seq then. So a batch cannot find
// the one before it, and the number of the last one is still known.

import type { Row } from './dialect.ts'

export const CLOSED = 'seq = -1 - seq'
export const IS_OPEN = 'seq >= 0'
export const HAS_BATCHES = 'seq NOT IN (0, -1)'
export const HAS_NO_BATCH = 'seq IN (0, -1)'

/** The number of the last batch of an epoch, open or closed. */
export function seqOf({ seq }: Row): number {
  const number = Number(seq)
  return number < 0 ? -1 - number : number
}
