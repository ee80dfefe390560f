// Records each call of a process before, and its answer after: what is not in the file did not happen.

import { openSync, writeSync } from 'node:fs'
import { AmbiguousError, PeriluneError } from 'perilune'
import { nowUs } from './clock.ts'
import type { Facts, Line, Outcome } from './history.ts'

/** Codes that no fault of a server or of a network explains. */
const ODD = new Set(['script-failed', 'unknown-layout', 'closed', 'invalid-argument'])

export interface Asked {
  readonly what: string
  readonly key?: string
  readonly given?: Facts
  /** How long it may wait before its deadline counts. */
  readonly waitMs?: number
}

/** The file of one process. */
export class Journal {
  readonly #file: number
  #calls = 0

  constructor(path: string) {
    this.#file = openSync(path, 'a')
  }

  nextNumber(): number {
    return ++this.#calls
  }

  write(line: Line): void {
    writeSync(this.#file, `${JSON.stringify(line)}\n`)
  }
}

/** The part of one structure. */
export class Recorder {
  readonly #journal: Journal
  readonly #structure: string
  readonly #deadlineMs: number
  /** When each kind of thing went well last. */
  readonly #went = new Map<string, number>()

  constructor(journal: Journal, structure: string, deadlineMs: number) {
    this.#journal = journal
    this.#structure = structure
    this.#deadlineMs = deadlineMs
  }

  /** Resolves to null where the call failed. */
  async call<Value>(
    asked: Asked,
    act: () => Promise<Value>,
    tell: (value: Value) => Facts = () => ({}),
  ): Promise<{ value: Value } | null> {
    const number = this.#began(asked)
    try {
      const value = await act()
      this.#settled(number, 'ok', tell(value))
      this.#went.set(asked.what, nowUs())
      return { value }
    } catch (error) {
      this.#settled(number, outcomeOf(error), {}, wordsOf(error))
      return null
    }
  }

  /** Something that must happen again and again. */
  metAgain(what: string, key: string, facts: Facts): void {
    this.#went.set(what, nowUs())
    this.saw(what, key, facts)
  }

  saw(what: string, key: string, facts: Facts = {}): void {
    this.#journal.write({ did: 'saw', at: nowUs(), structure: this.#structure, what, key, facts })
  }

  /** Kinds of calls that have not succeeded since, of all that ever did. */
  standsStill(sinceUs: number): string[] {
    return [...this.#went].filter(([, at]) => at < sinceUs).map(([what]) => `${this.#structure} ${what}`)
  }

  #began({ what, key = '', given = {}, waitMs = 0 }: Asked): number {
    const number = this.#journal.nextNumber()
    const dueMs = waitMs + this.#deadlineMs
    const call = { number, structure: this.#structure, what, key, given, dueMs }
    this.#journal.write({ did: 'began', at: nowUs(), ...call })
    return number
  }

  #settled(number: number, outcome: Outcome, got: Facts, error: string | null = null): void {
    this.#journal.write({ did: 'settled', at: nowUs(), number, outcome, got, error })
  }
}

function outcomeOf(error: unknown): Outcome {
  if (error instanceof AmbiguousError) return 'unknown'
  return error instanceof PeriluneError && !ODD.has(error.code) ? 'failed' : 'odd'
}

function wordsOf(error: unknown): string {
  if (error instanceof PeriluneError) return `${error.code}: ${error.message}`
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
