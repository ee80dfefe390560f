// A job of the model, and what it was enqueued with.

import type { Standing } from './queue-places.ts'

export interface Spec {
  readonly payload: string
  readonly id: string
  readonly delay_ms: number
  readonly priority: number
  readonly max_attempts: number
  readonly group: string
  readonly unique: string
  readonly until: string
  readonly window_ms: number
  readonly replace: boolean
  readonly tags: string
}

export type State = 'ready' | 'scheduled' | 'claimed' | 'stopping' | 'dead' | 'done'

export interface Job extends Standing {
  /** Null: enqueued by the fast path. */
  spec: Spec | null
  payload: string
  state: State
  /** Whether anything happened to it since it was enqueued. */
  hasRun: boolean
  token: number
  attempts: number
  /** When it is due, its lease ends, or it ended. */
  atMs: number
  isFull: boolean
  /** Separated by '\0'. */
  tags: string
  isTracked: boolean
}

// All have the usual name, which is not repeated.
const HEAD = { plain: 1, full: 41 }

export function newJob(number: number, payload: string, spec: Spec | null): Job {
  return {
    number,
    payload,
    spec,
    group: spec?.group ?? '',
    priority: spec?.priority ?? 0,
    front: false,
    place: null,
    state: 'ready',
    isLost: false,
    hasRun: false,
    token: 0,
    attempts: 0,
    atMs: 0,
    isFull: spec !== null,
    tags: spec?.tags ?? '',
    isTracked: false,
  }
}

export function bytesOf({ spec, payload, group, isFull, tags }: Job): number {
  if (!isFull) return HEAD.plain + payload.length
  const unique = spec === null || spec.unique === '' ? 0 : spec.unique.length + 1
  return HEAD.full + group.length + (spec?.id.length ?? 0) + unique + payload.length + tags.length
}

/** Why a token has no say over a job, or null. */
export function whyNot(job: Job | undefined, token: number): string | null {
  if (job === undefined || !job.hasRun) return 'absent'
  if (job.token !== token) return 'lost'
  if (job.state === 'claimed') return null
  if (job.state === 'stopping') return 'cancelled'
  if (job.state === 'dead') return 'dead'
  if (job.state === 'done') return 'acked'
  return job.isLost ? 'lost' : 'retried'
}

export function maxAttemptsOf({ spec }: Job): number {
  return spec?.max_attempts ?? 3
}

/** Plain jobs: exponential from a second, with a jitter of 20 percent; others here: linear from half a second. */
export function backoffOf({ spec, attempts, token }: Job): number {
  if (spec !== null) return 500 * attempts
  const chance = (((token % 1000) * 7919) % 1000) / 1000
  return Math.floor(1000 * 2 ** (attempts - 1) * (1 - (20 / 100) * chance))
}
