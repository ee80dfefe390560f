// The records of the processes of a soak: one line for each call, one for its answer, one for each message that an
// observer saw. Times are microseconds of CLOCK_MONOTONIC, which all processes share.

import { openSync, readFileSync, writeSync } from 'node:fs'
import { AmbiguousError, LeaseLostError, PeriluneError } from 'perilune'

/** `watched` is only read; from `worked` consumers take messages away. */
export type Role = 'watched' | 'worked'

export const ROLES: readonly Role[] = ['watched', 'worked']

export interface CallTerms {
  by: string
  op: 'append' | 'claim' | 'extend' | 'ack' | 'release'
  feed: Role
  messages?: string[]
  token?: number
}

export interface Call extends CallTerms {
  kind: 'call'
  at: number
  n: number
}

export interface AnswerTerms {
  id?: string
  token?: number
  /** Until when the holder assumes its claim. */
  until?: number
  /** When the server has ended the claim for certain: its lease, counted from the answer. */
  endsBy?: number
  messages?: string[]
  refused?: string[]
}

export interface Answer extends AnswerTerms {
  kind: 'answer'
  at: number
  by: string
  n: number
  /** `failed`: it certainly did not happen; `unknown`: it may have, or may yet. */
  outcome: 'ok' | 'empty' | 'lost' | 'failed' | 'unknown'
  why?: string
}

export interface Seen {
  kind: 'seen'
  at: number
  by: string
  message: string
  id: string
  lostBefore: 'gap' | 'reset' | null
}

/** The final content of a feed, in its order. */
export interface Left {
  kind: 'left'
  feed: Role
  message: string
  id: string
}

/** Something that must never happen, such as an unhandled rejection. */
interface Broken {
  kind: 'broken'
  what: string
}

export type Line = Call | Answer | Seen | Left | Broken

/** Microseconds of the clock that all processes of this machine share. */
export function nowUs(): number {
  return Number(process.hrtime.bigint() / 1000n)
}

/** Writes a history; the lines stay in order. */
export class Recorder {
  readonly #write: (line: Line) => void
  #calls = 0

  constructor(write: (line: Line) => void) {
    this.#write = write
  }

  /** Writes the call, makes it, and writes its answer. Resolves to null when there was none to use. */
  async follow<Result>(
    terms: CallTerms,
    make: () => Promise<Result>,
    tell: (result: NonNullable<Result>) => AnswerTerms,
  ): Promise<Result | null> {
    const n = ++this.#calls
    const answered = (outcome: Answer['outcome'], rest: object = {}): void =>
      this.#write({ kind: 'answer', at: nowUs(), by: terms.by, n, outcome, ...rest })
    this.#write({ kind: 'call', at: nowUs(), n, ...terms })
    try {
      const result = await make()
      if (result === null) answered('empty')
      else answered('ok', tell(result as NonNullable<Result>))
      return result
    } catch (error) {
      answered(...outcomeOf(error))
      if (!(error instanceof PeriluneError)) this.broken(`${terms.op} of ${terms.by}: ${String(error)}`)
      return null
    }
  }

  saw(by: string, message: string, id: string, lostBefore: Seen['lostBefore']): void {
    this.#write({ kind: 'seen', at: nowUs(), by, message, id, lostBefore })
  }

  broken(what: string): void {
    this.#write({ kind: 'broken', what })
  }
}

function outcomeOf(error: unknown): [outcome: Answer['outcome'], rest?: { why: string }] {
  if (error instanceof LeaseLostError) return ['lost']
  if (error instanceof AmbiguousError) return ['unknown']
  return ['failed', { why: String(error) }]
}

/** Writes each line before it returns, so that the history survives whatever becomes of the process. */
export function writeTo(path: string): (line: Line) => void {
  const file = openSync(path, 'a')
  return (line) => void writeSync(file, `${JSON.stringify(line)}\n`)
}

/** The lines of a file; one that a kill cut short is left out. */
export function readHistory(path: string): Line[] {
  const text = readFileSync(path, 'utf8')
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  return whole
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)
}
