// The outcome of a step on one side, in the words of both: a value, or the code of its error.

import { InvalidArgumentError, PeriluneError } from 'perilune'

/** The status of the service for each code (docs/http). */
const STATUS_OF: Readonly<Record<string, number>> = {
  'invalid-argument': 400,
  'not-found': 404,
  'unknown-counter': 404,
  refused: 409,
  held: 409,
  full: 409,
  running: 409,
  loading: 409,
  'load-failed': 409,
  'result-not-kept': 409,
  'lease-lost': 410,
  conflict: 422,
  overflow: 422,
  'rate-limited': 429,
}

/** An expected no: the service says so with a problem document, the library with a value such as null. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly code: string
  readonly reason: string | null
  /** Which argument was wrong. */
  readonly argument: string | null

  constructor(code: string, reason: string | null = null, argument: string | null = null) {
    super(reason === null ? code : `${code} (${reason})`)
    this.code = code
    this.reason = reason
    this.argument = argument
  }
}

interface Problem {
  readonly code: string
  readonly reason?: string
  readonly argument?: string
}

/** Throws where no such status belongs to the code. */
export function refusedBy(status: number, { code, reason, argument }: Problem): Refused {
  if (STATUS_OF[code] !== status) throw new Error(`the code ${code} came with the status ${status}`)
  return new Refused(code, reason ?? null, argument ?? null)
}

/** The value; throws Refused where there is none. */
export function found<Value>(value: Value | null): Value {
  if (value === null) throw new Refused('not-found')
  return value
}

/** Throws Refused where nothing was done, because it is not there. */
export function done(was: boolean): void {
  if (!was) throw new Refused('not-found')
}

/** The outcome of the only one of several; throws Refused when it was lost. */
export function notLost<Settled extends { readonly outcome: string }>([
  settled,
]: readonly Settled[]): Settled {
  if (settled === undefined) throw new Error('no outcome was returned')
  if (settled.outcome !== 'lost') return settled
  throw new Refused('lease-lost', 'reason' in settled ? String(settled.reason) : null)
}

export type Outcome<Value> =
  | { readonly value: Value }
  | { readonly refused: string; readonly reason: string | null; readonly argument: string | null }

/** Throws unexpected errors. */
export async function outcomeOf<Value>(step: () => Promise<Value>): Promise<Outcome<Value>> {
  try {
    return { value: await step() }
  } catch (error) {
    if (error instanceof Refused)
      return { refused: error.code, reason: error.reason, argument: error.argument }
    if (error instanceof InvalidArgumentError)
      return { refused: error.code, reason: null, argument: error.argument }
    if (error instanceof PeriluneError) return { refused: error.code, reason: null, argument: null }
    throw error
  }
}
