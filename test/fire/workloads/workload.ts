// The work of the processes of a run with one structure.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Perilune } from 'perilune'
import type { Recorder } from '../recorder.ts'

/** Of every call of a run. */
export const DEADLINE_MS = 3000
/** The lease of everything held; a fault that stops a process stops it for longer. */
export const LEASE = '1500ms'
export const LEASE_MS = 1500
/** How long a process waits in line. */
export const WAIT_MS = 1500

export interface Site {
  readonly redis: Perilune
  readonly recorder: Recorder
  /** Which of the processes this is, from 0. */
  readonly process: number
  /** How many there are. */
  readonly processes: number
  readonly luck: () => number
  /** Aborts when the processes are to come to an end. */
  readonly over: AbortSignal
  /** For files that the processes of a run share. */
  readonly folder: string
  /** Whether servers lose what they have acknowledged when they die. */
  readonly replicated: boolean
}

export interface Workload {
  /** Continues until it is over. */
  work(site: Site): Promise<void>
  /** One process looks at what is left, when the others have come to an end and nothing is wrong any more. */
  look?(site: Site): Promise<void>
}

/** Again and again, with pauses, until it is over. */
export async function repeat(site: Site, pauseMs: number, step: () => Promise<unknown>): Promise<void> {
  while (!site.over.aborted) {
    await step()
    await sleep(pauseMs * (0.5 + site.luck()))
  }
}

/** Until it is so, for a while. */
export async function eventually(isSo: () => Promise<boolean>, withinMs = 12_000): Promise<boolean> {
  const end = performance.now() + withinMs
  while (performance.now() < end) {
    if (await isSo()) return true
    await sleep(50)
  }
  return false
}
