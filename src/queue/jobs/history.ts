// What happened to one job, from the time it was enqueued until now.

import { history } from '../../generated/queue.ts'
import { checkText } from '../../runtime/values/arguments.ts'
import type { Source } from '../source/source.ts'

export type Happening =
  | 'enqueued'
  | 'claimed'
  | 'acked'
  | 'retried'
  | 'reclaimed'
  | 'released'
  | 'buried'
  | 'requeued'
  | 'stopping'

export interface HistoryEntry {
  /** `reclaimed`: its lease ended; `stopping`: cancelled at work. */
  readonly what: Happening
  readonly atMs: number
  /** Null: before the first, or of none. */
  readonly attempt: number | null
  readonly token: number | null
  /** Of the failure; empty: none. */
  readonly kind: string
}

export interface JobHistory {
  /** The oldest first. */
  readonly entries: readonly HistoryEntry[]
  /** How many are missing, behind the first that is not of the job's enqueueing and claim: only the newest are kept. */
  readonly omitted: number
}

/** Null where there is no such job (any more). */
export async function readHistory({ unit }: Source, id: string): Promise<JobHistory | null> {
  const answer = await unit.run(history, { id: checkText('id', id, 512) })
  if (answer.status === 'absent') return null
  const entries = answer.entries.map(({ what, atMs, attempt, token, kind }) => ({
    what: what as Happening,
    atMs,
    attempt: token === 0 ? null : attempt,
    token: token === 0 ? null : token,
    kind,
  }))
  return { entries, omitted: answer.omitted }
}
