// The form of the answers of collections.

import { Type } from '@fastify/type-provider-typebox'
import { type Answers, Count, Instant, json, Name, nothing, object, orNull } from '../api/answers.ts'

const Version = orNull(Type.Integer({ minimum: 0 }))
const Replaced = Type.Union([
  object({ status: Type.Literal('replaced'), size: Count, expiresAtMs: Instant }),
  object({ status: Type.Literal('unchanged'), version: Count, expiresAtMs: Instant }),
  object({ status: Type.Literal('refused'), version: Count }),
])
const Page = object({
  status: Type.Literal('page'),
  items: Type.Array(
    Type.Unknown({ description: 'A value; a pair of field and value, or of value and score.' }),
  ),
  next: orNull(Type.String({ description: 'Where the next page begins; null on the last page.' })),
  gap: Type.Boolean({ description: 'Items left the head of a list before they were read.' }),
  size: Count,
  version: Version,
  expiresAtMs: Instant,
})
const Moved = object({ status: Type.Literal('replaced'), version: Version })
const Picture = Type.Union([
  object({ name: Name, exists: Type.Literal(false) }),
  object({
    name: Name,
    exists: Type.Literal(true),
    kind: Type.String({ enum: ['list', 'set', 'hash', 'sortedSet'] }),
    size: Count,
    version: Version,
    largestBytes: Count,
    expiresAtMs: Instant,
  }),
])

export const replaced: Answers = { 200: json('The outcome; `refused` for an older version.', Replaced) }
export const page: Answers = {
  200: json('A page; or `replaced`: the items of `after` do not exist any more.', Type.Union([Page, Moved])),
}
export const added: Answers = { 200: json('Added.', object({ size: Count, added: Count, removed: Count })) }
export const removed: Answers = { 200: json('Removed.', object({ size: Count, removed: Count })) }
export const picture: Answers = { 200: json('The collection at one instant.', Picture) }
export const cleared: Answers = { 204: nothing('The collection does not exist any more.') }
