// Payloads that are checked, by any library that speaks Standard Schema (https://standardschema.dev): before a job is
// put into the queue, and again before it is worked on, since it may have been put there by others. What is stored is
// what was given; what the schema makes of it is what handlers see.

import type { Runner } from '../../runtime/calls/runner.ts'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import type { Deadlines } from '../../runtime/time/deadlines.ts'
import { answered } from '../../runtime/time/in-time.ts'

/** What we need of a Standard Schema, version 1. */
export interface Schema<Input = unknown, Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => Validated<Output> | Promise<Validated<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

export type Validated<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] }

/** Why a value does not fit. */
export interface Issue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** Schemas by the names of jobs. */
export type SchemasByName = Readonly<Record<string, Schema>>

/** What `enqueue` takes, by the names of jobs. */
export type GivenBy<Schemas extends SchemasByName> = {
  [Name in keyof Schemas & string]: NonNullable<Schemas[Name]['~standard']['types']>['input']
}

/** What handlers see, by the names of jobs. */
export type MadeBy<Schemas extends SchemasByName> = {
  [Name in keyof Schemas & string]: NonNullable<Schemas[Name]['~standard']['types']>['output']
}

/** A job, as its payload is checked. */
export interface Checked {
  readonly name: string
  readonly payload: unknown
  takePayload(payload: unknown): void
}

export class PayloadChecks {
  readonly #schemas: ReadonlyMap<string, Schema>
  readonly #time: AnswerTime

  /** `time`: how long a schema may take before something is sent. Throws InvalidArgumentError. */
  constructor(schemas: SchemasByName, time: AnswerTime) {
    if (typeof schemas !== 'object' || schemas === null) {
      throw new InvalidArgumentError('schemas', 'must be an object of one schema for each name')
    }
    for (const [name, schema] of Object.entries(schemas)) checkSchema(name, schema)
    this.#schemas = new Map(Object.entries(schemas))
    this.#time = time
  }

  /**
   * Throws InvalidArgumentError for a payload that does not fit, or gives a promise that rejects with it where its
   * schema takes its time. `path`: what the payload is called.
   */
  check(name: string, payload: unknown, path: string): Promise<void> | undefined {
    const schema = this.#schemas.get(name)
    if (schema === undefined) return undefined
    const validated = schema['~standard'].validate(payload)
    if (!isLate(validated)) return refuse(validated, path)
    const late = this.#refuseLate(validated, path)
    // Where another payload is refused first, nobody waits for this one.
    late.catch(() => undefined)
    return late
  }

  async #refuseLate(validating: PromiseLike<Validated<unknown>>, path: string): Promise<void> {
    const answer = await answeredIn(this.#time, validating)
    if (answer === null) {
      throw new InvalidArgumentError(path, 'could not be checked: its schema has not answered in time')
    }
    refuse(answer.value, path)
  }

  /**
   * Null when the payload of a job fits: it is then what the schema made of it. `unanswered`: not in time. Throws what the schema
   * throws.
   */
  async misfitOf(job: Checked, time: AnswerTime): Promise<InvalidArgumentError | 'unanswered' | null> {
    const schema = this.#schemas.get(job.name)
    if (schema === undefined) return null
    const told = schema['~standard'].validate(job.payload)
    const answer = isLate(told) ? await answeredIn(time, told) : { value: told }
    if (answer === null) return 'unanswered'
    const validated = answer.value
    if (validated.issues !== undefined) return toError(validated.issues, 'payload')
    job.takePayload(validated.value)
    return null
  }
}

function checkSchema(name: string, schema: unknown): void {
  const standard = (schema as Partial<Schema> | null | undefined)?.['~standard']
  if (standard?.version === 1 && typeof standard.validate === 'function') return
  throw new InvalidArgumentError(`schemas.${name}`, 'must be a Standard Schema of version 1')
}

function isLate(validated: unknown): validated is PromiseLike<Validated<unknown>> {
  return typeof validated === 'object' && validated !== null && 'then' in validated
}

function refuse(validated: Validated<unknown>, path: string): undefined {
  if (validated.issues !== undefined) throw toError(validated.issues, path)
}

/** Names the first by its path, and tells of them all. */
function toError(issues: readonly Issue[], path: string): InvalidArgumentError {
  const [first = { message: 'it is refused' }, ...others] = issues
  const more = others.map((issue) => `; ${pathOf(issue, path)}: ${issue.message}`).join('')
  return new InvalidArgumentError(pathOf(first, path), `does not fit: ${first.message}${more}`)
}

function pathOf({ path = [] }: Issue, from: string): string {
  return path.reduce<string>((text, part) => {
    const key = typeof part === 'object' ? part.key : part
    if (typeof key === 'number') return `${text}[${key}]`
    return `${text}.${String(key)}`
  }, from)
}

// How long code of the user is waited for that answers later, and may never: a schema, a backoff. One job of which none comes keeps
// nobody from the others.

export interface AnswerTime {
  readonly deadlineMs: number
  /** What ends the waiting sooner. */
  readonly deadlines: Deadlines
}

/** Of a worker, which extends its jobs, and goes on with them while its instance closes. */
export function timeOfWorker({ deadlineMs, lastDeadlines }: Runner): AnswerTime {
  return { deadlineMs, deadlines: lastDeadlines }
}

/** Of a claim by hand with so much of its lease left: whoever claimed needs the rest, and nobody extends it yet. */
export function timeOfClaim({ deadlineMs, deadlines }: Runner, leftMs: number): AnswerTime {
  return { deadlineMs: Math.min(deadlineMs, leftMs / 2), deadlines }
}

/** Null where none has come in this time. Rejects as the answer. */
export function answeredIn<Value>(
  { deadlineMs, deadlines }: AnswerTime,
  answer: Value | PromiseLike<Value>,
): Promise<{ readonly value: Value } | null> {
  return answered(answer, performance.now() + deadlineMs, deadlines)
}
