// The form of the answers of caches.

import { Type } from '@fastify/type-provider-typebox'
import {
  type Answers,
  Count,
  Instant,
  json,
  Name,
  nothing,
  object,
  orNull,
  problem,
  Span,
  Token,
} from '../api/answers.ts'

const Value = Type.Unknown({ description: 'Any JSON, exactly as it was sent.' })
const KeptValue = object({
  value: Value,
  fresh: Type.Boolean({ description: 'False if it is stale.' }),
  createdAtMs: Instant,
  freshUntilMs: Instant,
  staleUntilMs: Instant,
})
const Stored = Type.Union([
  object({ stored: Type.Literal(true), freshUntilMs: Instant, staleUntilMs: Instant }),
  object({
    stored: Type.Literal(false),
    version: Type.Integer({ minimum: 1, description: 'The stored version, which is as great or greater.' }),
  }),
])
const Load = object({
  load: Type.String({ description: 'Ends the load.' }),
  token: Token,
  leaseMs: Span,
  expiresAtMs: Instant,
})
const Picture = object({
  key: Name,
  state: Type.String({ enum: ['fresh', 'stale', 'absent'] }),
  createdAtMs: orNull(Instant),
  loadMs: orNull(Span),
  freshUntilMs: orNull(Instant),
  staleUntilMs: orNull(Instant),
  version: orNull(Count),
  negative: Type.Boolean({ description: 'Whether it is cached that there is no value.' }),
  bytes: Count,
  codec: orNull(Type.String()),
  tags: Type.Array(Type.String()),
  load: orNull(object({ token: Token, expiresAtMs: Instant })),
})
const place = { Location: { type: 'string', description: 'The URL of the load.' } }

export const kept: Answers = { 200: json('The cached value.', KeptValue) }
export const stored: Answers = { 200: json('The outcome.', Stored) }
export const invalidated: Answers = {
  200: json('Deleted; the number of values, null for a tag.', object({ invalidated: orNull(Count) })),
}
export const forgotten: Answers = { 204: nothing('Forgotten.') }
export const picture: Answers = { 200: json('The key at one instant.', Picture) }
export const loading: Answers = {
  200: json('The cached value: nothing to load.', KeptValue),
  201: { ...json('Load the value, then put it.', Load), headers: place },
  409: problem('Another client loads it, or has failed to: `loading`, `load-failed`.'),
}
export const extended: Answers = {
  200: json('Extended.', object({ load: Type.String(), leaseMs: Span, expiresAtMs: Instant })),
}
export const failed: Answers = { 204: nothing('Given up.') }
