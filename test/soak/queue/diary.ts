// The attempts of a process, as it writes them down.

import { AmbiguousError, DriverError } from 'perilune'
import type { Log, Outcome } from './log.ts'
import { nextRefOf } from './plan.ts'

type Which = 'main' | 'after'

/** One attempt at one job. */
export interface Held {
  readonly ref: string
  readonly id: string
  readonly token: number
  readonly attempt: number
  readonly maxAttempts: number
  readonly group: string
}

export class Diary {
  readonly #log: Log

  constructor(log: Log) {
    this.#log = log
  }

  began(queue: Which, held: Held, endsAtMs: number): Promise<void> {
    return this.#log.write({ kind: 'began', queue, ...held, endsAtMs })
  }

  ending(queue: Which, { ref, token }: Held, throws: boolean): Promise<void> {
    return this.#log.write({ kind: 'ending', queue, ref, token, throws })
  }

  settled(queue: Which, { ref, token }: Held, outcome: Outcome): Promise<void> {
    return this.#log.write({ kind: 'settled', queue, ref, token, outcome })
  }

  /** A job is about to be followed by another one. */
  advancing({ ref }: Held): Promise<void> {
    const next = { queue: 'after', ref: nextRefOf(ref) } as const
    return this.#log.write({ kind: 'asked', ...next, dependsOn: [], onDependencyFailure: '' })
  }

  /** The job is followed by the other one, whose id the other queue will give it. */
  advanced({ ref }: Held): Promise<void> {
    return this.#log.write({ kind: 'enqueued', queue: 'after', ref: nextRefOf(ref), id: '' })
  }
}

/** Then the outcome of a call is unknown. */
export function isOutOfReach(error: unknown): boolean {
  return error instanceof AmbiguousError || error instanceof DriverError
}
