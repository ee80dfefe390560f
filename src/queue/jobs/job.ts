// A job, as it was when somebody looked.

import type { FindAnswer } from '../../generated/queue.ts'
import { toId } from '../source/ids.ts'
import type { Source } from '../source/source.ts'
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
export function toJob(told: FindAnswer['jobs'][number], source: Source): Job {
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
