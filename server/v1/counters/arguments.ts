// The arguments of requests for counters.

import {
  type TArray,
  type TInteger,
  type TObject,
  type TOptional,
  type TString,
  type TUnion,
  type TUnsafe,
  Type,
} from '@fastify/type-provider-typebox'
import { strict } from '../api/arguments.ts'

type Id = TUnsafe<string | number>
const id: Id = Type.Unsafe<string | number>({
  type: ['string', 'integer'],
  description: 'The key of its row: a text, or a whole number below 2^53.',
})
const ids: TArray<Id> = Type.Array(id, { minItems: 1, maxItems: 1000 })

type TIncrement = TObject<{ id: Id; by: TOptional<TInteger>; idempotencyKey: TOptional<TString> }>
const Increment: TIncrement = Type.Object(
  {
    id,
    by: Type.Optional(
      Type.Integer({ description: 'The number to add, negative to subtract. Default 1; less than 2^53.' }),
    ),
    idempotencyKey: Type.Optional(
      Type.String({
        description: 'Increments of the same counter with the same key within `idempotencyTtl` count once.',
      }),
    ),
  },
  strict,
)

export const Increments: TUnion<[TObject<{ increments: TArray<TIncrement> }>, TIncrement]> = Type.Union([
  Type.Object({ increments: Type.Array(Increment, { minItems: 1, maxItems: 1000 }) }, strict),
  Increment,
])
type TNote = TObject<{ id: Id; by: TOptional<TInteger> }>
const Note: TNote = Type.Object(
  {
    id,
    by: Type.Optional(
      Type.Integer({
        description: 'The sum of the committed rows. Default 1; less than 2^53.',
      }),
    ),
  },
  strict,
)

export const Notes: TUnion<[TObject<{ notes: TArray<TNote> }>, TNote]> = Type.Union([
  Type.Object({ notes: Type.Array(Note, { minItems: 1, maxItems: 1000 }) }, strict),
  Note,
])
export const Ids: TObject<{ ids: TArray<Id> }> = Type.Object({ ids }, strict)
export const IdsQuery: TObject<{ ids: TString }> = Type.Object(
  {
    ids: Type.String({
      description: 'Up to 1,000 ids separated by commas: `7,8`; a comma in an id is `%2C`.',
    }),
  },
  strict,
)
export const valueId: TString = Type.String({ minLength: 1, description: 'The key of its row.' })
