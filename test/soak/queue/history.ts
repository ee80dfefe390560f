// The log of a soak of the queue, by job and by attempt.

import type { End } from './end.ts'
import type { Cancelled, Line, Outcome } from './log.ts'
import type { Losses } from './losses.ts'

export type Began = Extract<Line, { kind: 'began' }>

export interface Attempt {
  readonly began: Began
  /** Place of its beginning in the log. */
  readonly at: number
  readonly ending: { readonly at: number; readonly atMs: number; readonly throws: boolean } | null
  /** The answer to its process; after a missing answer its later answers are ignored. */
  readonly outcome: Outcome | null
}

export interface JobStory {
  readonly ref: string
  readonly asked: Extract<Line, { kind: 'asked' }> | null
  /** Places in the log; null: there is no such line. */
  readonly askedAt: number | null
  readonly enqueuedAt: number | null
  readonly enqueuing: 'enqueued' | 'unknown' | 'refused' | null
  /** The answer to its cancellation, and at which place in the log; null: it was not cancelled. */
  readonly cancelled: { readonly at: number; readonly outcome: Cancelled } | null
  /** By their tokens. */
  readonly attempts: readonly Attempt[]
}

export interface QueueHistory {
  readonly lines: readonly Line[]
  /** Processes that did not come to an end of their own. */
  readonly killed: ReadonlySet<string>
  /** Of each queue. */
  readonly ends: readonly End[]
  readonly limits: { readonly queue: number; readonly group: number } | null
  /** Nothing, unless it is said. */
  readonly losses?: Losses
  /** Nothing went wrong: jobs began in their order. */
  readonly isOrdered?: boolean
}

const UNKNOWN = { asked: null, askedAt: null, enqueuedAt: null, enqueuing: null, cancelled: null }

/** The events of each job of a queue. */
export function storiesOf(lines: readonly Line[], queue: 'main' | 'after' = 'main'): Map<string, JobStory> {
  const attempts = attemptsOf(lines, queue)
  const stories = new Map<string, { -readonly [Key in keyof JobStory]: JobStory[Key] }>()
  for (const [at, line] of lines.entries()) {
    if (line.kind === 'broken' || line.queue !== queue) continue
    const { ref } = line
    const story = stories.get(ref) ?? { ...UNKNOWN, ref, attempts: attempts.get(ref) ?? [] }
    stories.set(ref, story)
    // Each attempt that comes so far requests the successor of its job.
    if (line.kind === 'asked' && story.asked === null) [story.asked, story.askedAt] = [line, at]
    if (line.kind === 'enqueued') story.enqueuedAt = at
    if (line.kind === 'cancelling') story.cancelled = { at, outcome: 'unknown' }
    if (line.kind === 'cancelled') story.cancelled = { at, outcome: line.outcome }
    if (line.kind === 'enqueued' || line.kind === 'unknown' || line.kind === 'refused')
      story.enqueuing = line.kind
  }
  return stories
}

function attemptsOf(lines: readonly Line[], queue: 'main' | 'after'): Map<string, Attempt[]> {
  const attempts = new Map<string, { -readonly [Key in keyof Attempt]: Attempt[Key] }>()
  // The same token twice would be a fault, for a checker to see.
  const keyOf = ({ by, token, ref }: { by: string; token: number; ref: string }): string =>
    `${by} ${token} ${ref}`
  for (const [at, line] of lines.entries()) {
    if (line.kind === 'broken' || line.queue !== queue) continue
    if (line.kind === 'began') attempts.set(keyOf(line), { began: line, at, ending: null, outcome: null })
    if (line.kind !== 'ending' && line.kind !== 'settled') continue
    const attempt = attempts.get(keyOf(line))
    if (attempt === undefined) continue
    if (line.kind === 'ending') attempt.ending = { at, atMs: line.atMs, throws: line.throws }
    else if (attempt.outcome !== 'unknown') attempt.outcome = line.outcome
  }
  const byRef = new Map<string, Attempt[]>()
  for (const attempt of attempts.values()) {
    const { ref } = attempt.began
    byRef.set(ref, [...(byRef.get(ref) ?? []), attempt])
  }
  for (const [ref, those] of byRef)
    byRef.set(
      ref,
      those.toSorted((one, other) => one.began.token - other.began.token),
    )
  return byRef
}
