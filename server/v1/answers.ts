// What answers look like. These schemas describe; the routes write the answers themselves, because bodies
// are put in as they were sent.

import { Type } from '@fastify/type-provider-typebox'

const strict = { additionalProperties: false }
const Instant = Type.Integer({ description: 'Unix milliseconds of the server.' })
const Span = Type.Integer({ minimum: 0, description: 'Milliseconds.' })
const Count = Type.Integer({ minimum: 0 })
const Marker = Type.String({ description: 'An opaque position: reading after it gives what follows.' })
const Token = Type.Integer({ minimum: 1, description: 'Proves a claim; greater than that of every earlier one.' })
const orNull = <Schema extends object>(schema: Schema): Schema | object => Type.Union([schema, Type.Null()])

const Message = Type.Object(
  {
    id: Type.String(),
    marker: orNull(Marker),
    createdAtMs: Instant,
    ageMs: Span,
    expiresAtMs: orNull(Instant),
    claims: Count,
    claimToken: orNull(Token),
    body: Type.Unknown({ description: 'Any JSON, to the letter as it was sent.' }),
  },
  { ...strict, description: 'A message.' },
)
