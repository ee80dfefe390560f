// The increments of a request, and their results.

import {
  AmbiguousError,
  type Counted,
  type CounterValue,
  DriverError,
  type IncrementItem,
  InvalidArgumentError,
  PeriluneError,
  SinkError,
} from 'perilune'
import { toProblemAnswer } from '../../http/answers/problem-documents.ts'

/** In the form of the schema. */
interface AskedIncrement {
  readonly id: string | number
  readonly by?: number
  readonly idempotencyKey?: string
}
export type AskedIncrements = AskedIncrement | { readonly increments: readonly AskedIncrement[] }

/** `key`: the header Idempotency-Key. Throws InvalidArgumentError. */
export function incrementsIn(asked: AskedIncrements, key: string | undefined): readonly IncrementItem[] {
  if (!('increments' in asked)) return [withKey(asked, key)]
  const [first, ...others] = asked.increments
  if (key === undefined || first === undefined) return asked.increments
  if (others.length === 0) return [withKey(first, key)]
  throw new InvalidArgumentError('Idempotency-Key', 'is only for one increment: give each its idempotencyKey')
}

function withKey(asked: AskedIncrement, key: string | undefined): IncrementItem {
  if (key === undefined) return asked
  if (asked.idempotencyKey !== undefined && asked.idempotencyKey !== key) {
    throw new InvalidArgumentError('Idempotency-Key', 'differs from the idempotencyKey of the increment')
  }
  return { ...asked, idempotencyKey: key }
}

/** Translates the library's `items[3].by` to the names of the request. */
export function asAsked(error: unknown, { isSingle }: { isSingle: boolean }): unknown {
  if (!(error instanceof InvalidArgumentError)) return error
  const { argument, message } = error
  const named = isSingle ? argument.replace(/^items\[0\]\./, '') : argument.replace(/^items\b/, 'increments')
  return new InvalidArgumentError(named, message.slice(argument.length + 1))
}

/** One result per item. Throws if the store failed for all of them, or one failed with an unexpected error. */
export function outcomesToJson(
  items: readonly IncrementItem[],
  done: readonly (Counted | Error)[],
): object[] {
  const [first] = done
  if (first instanceof Error && done.every(isOutage)) throw first
  return done.map((each, at) => (each instanceof Error ? refusal(items[at], each) : counted(each)))
}

export function counted({ id, value, counted: isCounted }: Counted): object {
  return { id, value: toJson(value), counted: isCounted }
}

/** JSON parsers only have exact whole numbers up to 2^53. */
export function toJson(value: CounterValue): number | string {
  return typeof value === 'bigint' ? String(value) : value
}

function refusal(item: IncrementItem | undefined, error: Error): object {
  const answer = error instanceof PeriluneError ? toProblemAnswer(error) : null
  if (answer === null) throw error
  const { code, detail } = answer.document
  return { id: String(item?.id), code, detail }
}

function isOutage(done: Counted | Error): boolean {
  return done instanceof SinkError || done instanceof DriverError || done instanceof AmbiguousError
}
