// What a soak enqueues: jobs that say themselves what shall become of them.

import type { JobOptions } from 'perilune'

/**
 * `plain`: jobs without options, which go the quick way. `limited`: groups, priorities, delays and limits. `families`: jobs
 * of a second queue wait for those of the first.
 */
export type SoakKind = 'plain' | 'limited' | 'families'

/** The payload of a job. */
export interface Plan {
  readonly ref: string
  readonly ms: number
  /** So many attempts throw. */
  readonly fails: number
  /** Each attempt kills its process. */
  readonly poison: boolean
}

export type Names = 'one' | 'many'
export type Jobs = Record<Names, Plan>

export interface PlannedJob {
  readonly name: Names
  readonly payload: Plan
  readonly options: JobOptions
}

export const QUEUE_LIMIT = 9
export const GROUP_LIMIT = 2
export const GROUPS = ['a', 'b', 'c', 'd', 'e'] as const

export function planJob(ref: string, kind: SoakKind, random: () => number): PlannedJob {
  const fails = random() < 0.1 ? 1 + Math.floor(random() * 3) : 0
  const payload = { ref, ms: Math.floor(random() * (random() < 0.2 ? 400 : 60)), fails, poison: false }
  return {
    name: random() < 0.3 ? 'many' : 'one',
    payload,
    options: kind === 'limited' ? planOptions(ref, random) : {},
  }
}

function planOptions(ref: string, random: () => number): JobOptions {
  return {
    group: GROUPS[Math.floor(random() * GROUPS.length)] ?? 'a',
    priority: Math.floor(random() * 4) - 1,
    maxAttempts: 2 + Math.floor(random() * 4),
    backoff: random() < 0.5 ? 'none' : { kind: 'fixed', base: '100ms' },
    ...(random() < 0.3 ? { id: `own ${ref}` } : {}),
    ...(random() < 0.2 ? { delay: `${Math.floor(random() * 300)}ms` } : {}),
  }
}
