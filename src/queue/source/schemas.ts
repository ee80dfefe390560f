// Checks payloads with any library that implements Standard Schema (https://standardschema.dev): before a job is
// enqueued, and again before it is worked on, because another client may have enqueued it. The queue stores the
// payload as it was given; handlers get the output of the schema.

import type { Runner } from '../../runtime/calls/runner.ts'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import type { Deadlines } from '../../runtime/time/deadlines.ts'
import { answered } from '../../runtime/time/in-time.ts'

/** The part of Standard Schema, version 1, that is used here. */
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

/** The payloads that `enqueue` takes, by the names of jobs. */
export type GivenBy<Schemas extends SchemasByName> = {
  [Name in keyof Schemas & string]: NonNullable<Schemas[Name]['~standard']['types']>['input']
}

/** The payloads that handlers get, by the names of jobs. */
export type MadeBy<Schemas extends SchemasByName> = {
  [Name in keyof Schemas & string]: NonNullable<Schemas[Name]['~standard']['types']>['output']
}

/** The part of a job that a check needs. */
export interface Checked {
  readonly name: string
  readonly payload: unknown
  takePayload(payload: unknown): void
}

export class PayloadChecks {
  readonly #schemas: ReadonlyMap<string, Schema>
  readonly #time: AnswerTime

  /** `time` limits how long a schema may delay a call. Throws InvalidArgumentError. */
  constructor(schemas: SchemasByName, time: AnswerTime) {
    if (typeof schemas !== 'object' || schemas === null) {
      throw new InvalidArgumentError('schemas', 'must be an object of one schema for each name')
    }
    for (const [name, schema] of Object.entries(schemas)) checkSchema(name, schema)
    this.#schemas = new Map(Object.entries(schemas))
    this.#time = time
  }

  /**
   * Throws InvalidArgumentError for a payload that does not fit, or returns a promise that rejects with it if the
   * schema is asynchronous. `path` is the name of the payload in errors.
   */
  check(name: string, payload: unknown, path: string): Promise<void> | undefined {
    const schema = this.#schemas.get(name)
    if (schema === undefined) return undefined
    const validated = schema['~standard'].validate(payload)
    if (!isLate(validated)) return refuse(validated, path)
    const late = this.#refuseLate(validated, path)
    // Not awaited if another payload is rejected first.
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
   * Null when the payload of a job fits; then the job gets the output of the schema. `unanswered` when the schema
   * takes too long. Throws what the schema throws.
   */
  async misfitOf(job: Checked, time: AnswerTime): Promise<InvalidArgumentError | 'unanswered' | null> {
    const schema = this.#schemas.get(job.name)
    if (schema === undefined) return null
    const validating = schema['~standard'].validate(job.payload)
    const answer = isLate(validating) ? await answeredIn(time, validating) : { value: validating }
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

/** The error names the path of the first issue, and its message lists all issues. */
function toError(issues: readonly Issue[], path: string): InvalidArgumentError {
  const [first = { message: 'the schema rejects it' }, ...others] = issues
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

// Limits the time of asynchronous user code that may never answer: schemas and backoffs. A job without an answer must
// not delay others.

export interface AnswerTime {
  readonly deadlineMs: number
  /** Ends the waiting sooner when the instance closes. */
  readonly deadlines: Deadlines
}

/** For a worker, which renews leases, and continues its jobs while its instance closes. */
export function timeOfWorker({ deadlineMs, lastDeadlines }: Runner): AnswerTime {
  return { deadlineMs, deadlines: lastDeadlines }
}

/** For a claim by hand with so much of its lease left: at most half of it, because the caller needs the rest. */
export function timeOfClaim({ deadlineMs, deadlines }: Runner, leftMs: number): AnswerTime {
  return { deadlineMs: Math.min(deadlineMs, leftMs / 2), deadlines }
}

/** Null when there was no answer in time. Rejects as the answer does. */
export function answeredIn<Value>(
  { deadlineMs, deadlines }: AnswerTime,
  answer: Value | PromiseLike<Value>,
): Promise<{ readonly value: Value } | null> {
  return answered(answer, performance.now() + deadlineMs, deadlines)
}
