// The jobs of a soak: each contains its own planned outcome.

import type { JobOptions } from 'perilune'

/**
 * `plain`: jobs without options, which take the fast path. `limited`: groups, priorities, delays and limits.
 * `families`: jobs of a second queue wait for those of the first, and others follow them. `steps`: as `families`, but
 * without waiting jobs: questions about dependencies of a killed process are asked again after a minute.
 */
export type SoakKind = 'plain' | 'limited' | 'families' | 'steps'

/** Whether jobs follow others, in a second queue. */
export function hasSteps(kind: SoakKind): boolean {
  return kind === 'families' || kind === 'steps'
}

/** The payload of a job. */
export interface Plan {
  readonly ref: string
  readonly ms: number
  /** So many attempts throw. */
  readonly fails: number
  /** Each attempt kills its process. */
  readonly poison: boolean
  /** How the first attempt ends that does not throw; `advance`: another job follows, in the second queue. */
  readonly ends: 'ack' | 'fail' | 'advance'
}

/** The failure of a job that is failed as planned. */
export const FAILED = 'planned'

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
  const ms = Math.floor(random() * (random() < 0.2 ? 400 : 60))
  const payload: Plan = { ref, ms, fails, poison: false, ends: planEnd(kind, random()) }
  return {
    name: random() < 0.3 ? 'many' : 'one',
    payload,
    options: kind === 'limited' ? planOptions(ref, random) : {},
  }
}

function planEnd(kind: SoakKind, drawn: number): Plan['ends'] {
  if (drawn < 0.05) return 'fail'
  return hasSteps(kind) && drawn < 0.15 ? 'advance' : 'ack'
}

/** The successor of a job that is advanced. */
export function planNext({ ref }: Plan): { name: Names; payload: Plan } {
  return { name: 'one', payload: { ref: nextRefOf(ref), ms: 5, fails: 0, poison: false, ends: 'ack' } }
}

export function nextRefOf(ref: string): string {
  return `${ref}>`
}

function planOptions(ref: string, random: () => number): JobOptions {
  const group = GROUPS[Math.floor(random() * (GROUPS.length + 1))]
  return {
    ...(group === undefined ? {} : { group }),
    priority: Math.floor(random() * 4) - 1,
    maxAttempts: 2 + Math.floor(random() * 4),
    backoff: random() < 0.5 ? 'none' : { kind: 'fixed', base: '100ms' },
    ...(random() < 0.3 ? { id: `own ${ref}` } : {}),
    ...(random() < 0.2 ? { delay: `${Math.floor(random() * 300)}ms` } : {}),
  }
}
