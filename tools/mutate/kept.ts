// Outcomes in a file, so that a long run that was interrupted goes on.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { type Mutant, nameOf } from './mutant.ts'
import type { Outcome } from './trial.ts'

type Told = Omit<Outcome, 'mutant'>

export class Kept {
  readonly #file: string | undefined
  readonly #outcomes: Record<string, Told>

  /** Without a file it keeps nothing. */
  constructor(file: string | undefined) {
    this.#file = file
    this.#outcomes =
      file !== undefined && existsSync(file)
        ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, Told>)
        : {}
  }

  outcomeOf(mutant: Mutant): Outcome | undefined {
    const told = this.#outcomes[nameOf(mutant)]
    return told === undefined ? undefined : { mutant, ...told }
  }

  keep(outcome: Outcome): Outcome {
    const { mutant, ...told } = outcome
    this.#outcomes[nameOf(mutant)] = told
    if (this.#file !== undefined) writeFileSync(this.#file, JSON.stringify(this.#outcomes, null, 2))
    return outcome
  }
}
