// Reading single jobs, their logs and their histories.

import { get, type GetAnswer, history } from '../../generated/queue.ts'
import { checkText } from '../../runtime/values/arguments.ts'
import { type QueueSource, toId } from '../source/source.ts'
import { PartReader, type UndecodablePart } from '../source/job-parts.ts'

export type JobState = 'ready' | 'scheduled' | 'blocked' | 'claimed' | 'stopping' | 'dead' | 'done'

/** A snapshot of a job. */
export interface Job {
  readonly id: string
  readonly name: string
  /** Null also when the codec could not read it: then `undecodable` lists it. */
  readonly payload: unknown
  readonly state: JobState
  /** How often the job was claimed. */
  readonly attempts: number
  readonly maxAttempts: number
  /** The token of the newest attempt; null before the first. */
  readonly token: number | null
  /** When it became ready or was claimed, when it is due (scheduled), or when it ended; server clock. */
  readonly atMs: number
  readonly enqueuedAtMs: number
  readonly priority: number
  /** Empty when it has none. */
  readonly group: string
  readonly tags: readonly string[]
  readonly trace: string
  /** Why the newest failed attempt failed; null when none has. */
  readonly failure: { readonly atMs: number; readonly kind: string; readonly message: string } | null
  /** The result of a done job that the queue keeps; else null. */
  readonly result: unknown
  /** How many bytes it takes in Redis. */
  readonly bytes: number
  /** The last progress that its newest attempt reported; null when there is none. */
  readonly progress: unknown
  /** Whether the job is tracked; see `jobs.track`. */
  readonly isTracked: boolean
  /** The parts that the codec could not read, each null above. Empty when it could read all. */
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

/** Decodes a job from the answer of an operation. */
export function toJob(raw: GetAnswer['jobs'][number], source: QueueSource): Job {
  const reader = new PartReader(source.codec)
  return {
    id: raw.id === String(raw.number) ? toId(source, raw.number) : raw.id,
    name: raw.name,
    payload: reader.read('payload', raw.payload),
    state: raw.state as JobState,
    attempts: raw.attempts,
    maxAttempts: raw.maxAttempts,
    token: raw.token === 0 ? null : raw.token,
    atMs: raw.atMs,
    enqueuedAtMs: Math.floor(raw.number / 1000),
    priority: raw.priority,
    group: raw.group,
    tags: raw.tags === '' ? [] : raw.tags.split('\0'),
    trace: raw.trace,
    failure: raw.failedAtMs === 0 ? null : { atMs: raw.failedAtMs, kind: raw.failure, message: raw.message },
    result: reader.readAny('result', raw.result),
    bytes: raw.bytes,
    progress: reader.readAny('progress', raw.progress),
    isTracked: raw.tracked,
    undecodable: reader.undecodable,
  }
}

// Looking jobs up by their ids.

export interface FoundPage {
  readonly jobs: readonly FoundJob[]
  /** The ids that were not looked up. */
  readonly left: readonly string[]
}

/** One entry for each of the first ids; null for an id that is not known. */
export interface FoundSome {
  readonly jobs: readonly (FoundJob | null)[]
  /** The total size of these jobs. */
  readonly bytes: number
}

/** As many jobs as one answer holds, at least one. */
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
  for (const [at, raw] of jobs.entries()) {
    const job = { ...toJob(raw, source), log: lines[at] ?? [] }
    found.set(job.id, job).set(String(raw.number), job)
    bytes += raw.bytes + raw.progress.length + (raw.result?.length ?? 0)
  }
  return { jobs: wanted.slice(0, looked).map((id) => found.get(id) ?? null), bytes }
}

// The history of a job.

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
  /** `reclaimed`: its lease ended; `stopping`: it was cancelled while an attempt was running. */
  readonly what: Happening
  readonly atMs: number
  /** Null when the entry is not of an attempt. */
  readonly attempt: number | null
  readonly token: number | null
  /** The kind of the failure; empty when there is none. */
  readonly kind: string
}

export interface JobHistory {
  /** The oldest first. */
  readonly entries: readonly HistoryEntry[]
  /**
   * How many entries are missing after the first one that is neither the enqueueing nor a claim: the oldest are
   * dropped.
   */
  readonly omitted: number
}

/** Null when there is no such job (any more). */
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
