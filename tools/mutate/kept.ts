// Outcomes in a file, so that an interrupted long run can continue.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { type Mutant, nameOf } from './mutant.ts'
import type { Outcome } from './trial.ts'

type KeptOutcome = Omit<Outcome, 'mutant'>

export class Kept {
  readonly #file: string | undefined
  readonly #outcomes: Record<string, KeptOutcome>

  /** Without a file it keeps nothing. */
  constructor(file: string | undefined) {
    this.#file = file
    this.#outcomes =
      file !== undefined && existsSync(file)
        ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, KeptOutcome>)
        : {}
  }

  outcomeOf(mutant: Mutant): Outcome | undefined {
    const kept = this.#outcomes[nameOf(mutant)]
    return kept === undefined ? undefined : { mutant, ...kept }
  }

  keep(outcome: Outcome): Outcome {
    const { mutant, ...kept } = outcome
    this.#outcomes[nameOf(mutant)] = kept
    if (this.#file !== undefined) writeFileSync(this.#file, JSON.stringify(this.#outcomes, null, 2))
    return outcome
  }
}
