// Acknowledged writes that a server may lose, and the log without them: the rest of a history that the server remembers
// only in part.

import type { Line } from './log.ts'

/** By the server's clock. */
export interface Loss {
  readonly fromMs: number
  readonly toMs: number
}

export interface Losses {
  readonly windows: readonly Loss[]
  /** For how long jobs were claimed. */
  readonly leaseMs: number
}

/** A write acknowledged in a window may have happened or not; attempts that began in it need no record. */
export function withoutLost(lines: readonly Line[], { windows, leaseMs }: Losses): Line[] {
  const isLost = (atMs: number): boolean => windows.some(({ fromMs, toMs }) => fromMs <= atMs && atMs <= toMs)
  return lines.flatMap((line): Line[] => {
    // When its lease was granted, or extended before it began.
    if (line.kind === 'began') return isLost(line.endsAtMs - leaseMs) ? [] : [line]
    if (line.kind === 'enqueued') return [isLost(line.atMs) ? { ...line, kind: 'unknown' } : line]
    if (line.kind === 'cancelled') return [isLost(line.atMs) ? { ...line, outcome: 'unknown' } : line]
    if (line.kind === 'settled' && line.outcome !== 'lost' && isLost(line.atMs)) {
      return [{ ...line, outcome: 'unknown' }]
    }
    return [line]
  })
}
