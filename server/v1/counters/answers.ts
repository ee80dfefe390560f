// The form of the answers of counters.

import { type TSchema, Type } from '@fastify/type-provider-typebox'
import { type Answers, Count, json, Name, nothing, object, orNull, problem, Span } from '../api/answers.ts'

/** Integers of 64 bits in JSON: many parsers lose digits of greater numbers. */
const Value: TSchema = Type.Union([Type.Integer(), Type.String({ pattern: '^-?\\d{16,19}$' })], {
  description: 'A number; from 2^53 a text of digits.',
})
const Id: TSchema = Type.String({ description: 'As text, even if the table has numbers.' })
const Incremented = object({
  id: Id,
  value: Value,
  counted: Type.Boolean({ description: 'False if its idempotency key was known: it was counted before.' }),
})
const Refused = object({ id: Id, code: Type.String(), detail: Type.String() })
const Partition = object({
  epoch: Count,
  seq: Count,
  batch: orNull(object({ id: Type.String(), counters: Count, ageMs: Span })),
  pending: Count,
  values: Count,
})
const Noted = object({ id: Id, value: orNull(Value) })
const Picture = object({
  name: Name,
  values: Count,
  dirty: Type.Integer({ minimum: 0, description: 'Counters with increments that the database lacks.' }),
  lagMs: orNull(Span),
  partitions: Type.Array(Partition),
})

const ShownPicture = object({
  name: Name,
  values: Count,
  noted: Type.Integer({ minimum: 0, description: 'Counters with notes that were not read again since.' }),
  waiting: Type.Integer({ minimum: 0, description: 'Rows that are not counted yet, at most 10,000.' }),
  lagMs: orNull(Span),
  versions: Type.Array(Count),
})

export const names: Answers = {
  200: json('The counters of the tenant, by name.', object({ counters: Type.Array(Name) })),
}
export const incremented: Answers = {
  200: json(
    'The value after the increment; for several, one result each.',
    Type.Union([Incremented, object({ increments: Type.Array(Type.Union([Incremented, Refused])) })]),
  ),
  422: problem('The value would leave 64 bits. Nothing was counted.'),
}
export const noted: Answers = {
  200: json(
    'The value shown after it; null if none is shown.',
    Type.Union([Noted, object({ notes: Type.Array(Noted) })]),
  ),
}
export const value: Answers = { 200: json('The value now.', object({ id: Id, value: Value })) }
export const values: Answers = {
  200: json(
    'In the order of the ids; null for those that do not exist.',
    object({ values: Type.Array(object({ id: Id, value: orNull(Value) })) }),
  ),
}
export const flushed: Answers = {
  200: json(
    'The pending increments are in the database.',
    Type.Union([
      object({
        batches: Count,
        counters: Type.Integer({ minimum: 0, description: 'Changes in these batches.' }),
      }),
      object({ events: Type.Integer({ minimum: 0, description: 'Rows that were counted.' }) }),
    ]),
  ),
}
export const reconciled: Answers = { 204: nothing('Right again.') }
export const picture: Answers = {
  200: json('The counters at one instant.', Type.Union([Picture, ShownPicture])),
}
export const cleared: Answers = {
  204: nothing(
    'Redis has no data of them any more. Increments that were not flushed are lost; counts of rows are not.',
  ),
}
