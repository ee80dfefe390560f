// A job, as it was when somebody looked.

import { get, type GetAnswer, history } from '../../generated/queue.ts'
import { checkText } from '../../runtime/values/arguments.ts'
import { type QueueSource, toId } from '../source/source.ts'
import { PartReader, type UndecodablePart } from '../source/job-parts.ts'

export type JobState = 'ready' | 'scheduled' | 'blocked' | 'claimed' | 'stopping' | 'dead' | 'done'

/** A job, as it was when somebody looked. */
export interface Job {
  readonly id: string
  readonly name: string
  /** Null: `undecodable` has it. */
  readonly payload: unknown
  readonly state: JobState
  /** How often it was claimed. */
  readonly attempts: number
  readonly maxAttempts: number
  /** Of the newest attempt; null before the first. */
  readonly token: number | null
  /** Since when it is ready or claimed, until when it is scheduled, or when it ended. */
  readonly atMs: number
  readonly enqueuedAtMs: number
  readonly priority: number
  /** Empty: none. */
  readonly group: string
  readonly tags: readonly string[]
  readonly trace: string
  /** Why the newest failed attempt failed; null: none did. */
  readonly failure: { readonly atMs: number; readonly kind: string; readonly message: string } | null
  /** Of a job that is done and kept; null: none. */
  readonly result: unknown
  /** That it takes in the store. */
  readonly bytes: number
  /** What its newest attempt told of it; null: nothing. */
  readonly progress: unknown
  /** Whether somebody follows it; see `track`. */
  readonly isTracked: boolean
  /** What the codec could not read of it; that is null above. Empty: it could read all. */
  readonly undecodable: readonly UndecodablePart[]
}

/** A line of a job's log. */
export interface LogLine {
  readonly atMs: number
  readonly line: string
}

export interface FoundJob extends Job {
  /** The newest lines of its log, the oldest first. */
  readonly log: readonly LogLine[]
}

/** As an operation tells of it. */
export function toJob(told: GetAnswer['jobs'][number], source: QueueSource): Job {
  const reader = new PartReader(source.codec)
  return {
    id: told.id === String(told.number) ? toId(source, told.number) : told.id,
    name: told.name,
    payload: reader.read('payload', told.payload),
    state: told.state as JobState,
    attempts: told.attempts,
    maxAttempts: told.maxAttempts,
    token: told.token === 0 ? null : told.token,
    atMs: told.atMs,
    enqueuedAtMs: Math.floor(told.number / 1000),
    priority: told.priority,
    group: told.group,
    tags: told.tags === '' ? [] : told.tags.split('\0'),
    trace: told.trace,
    failure:
      told.failedAtMs === 0 ? null : { atMs: told.failedAtMs, kind: told.failure, message: told.message },
    result: reader.readAny('result', told.result),
    bytes: told.bytes,
    progress: reader.readAny('progress', told.progress),
    isTracked: told.tracked,
    undecodable: reader.undecodable,
  }
}

// Looking jobs up by their ids.

export interface FoundPage {
  readonly jobs: readonly FoundJob[]
  /** Of the ids those that were not looked at. */
  readonly left: readonly string[]
}

/** Of the first of the ids: null in the places of those that are not known. */
export interface FoundSome {
  readonly jobs: readonly (FoundJob | null)[]
  /** Of all of these. */
  readonly bytes: number
}

/** Those of which one answer tells: one at least. */
export async function findSome(source: QueueSource, wanted: readonly string[]): Promise<FoundSome> {
  const { unit, codec } = source
  const { looked, jobs, log } = await unit.run(get, { codec: codec.name, wanted: [...wanted] })
  const lines = jobs.map((): LogLine[] => [])
  const found = new Map<string, FoundJob>()
  let bytes = 0
  for (const { at, atMs, line } of log) {
    lines[at]?.push({ atMs, line })
    bytes += line.length
  }
  for (const [at, told] of jobs.entries()) {
    const job = { ...toJob(told, source), log: lines[at] ?? [] }
    found.set(job.id, job).set(String(told.number), job)
    bytes += told.bytes + told.progress.length + (told.result?.length ?? 0)
  }
  return { jobs: wanted.slice(0, looked).map((id) => found.get(id) ?? null), bytes }
}

// What happened to one job, from the time it was enqueued until now.

export type Happening =
  | 'enqueued'
  | 'claimed'
  | 'acked'
  | 'retried'
  | 'reclaimed'
  | 'released'
  | 'dead'
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
export async function readHistory({ unit }: QueueSource, id: string): Promise<JobHistory | null> {
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
