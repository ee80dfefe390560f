// The arguments of requests, with the names of the library.

import type { TBoolean, TInteger, TObject, TOptional, TString, TUnsafe } from '@fastify/type-provider-typebox'
import { Type } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { Duration } from 'perilune'

const DURATION = '^\\d+(\\.\\d+)?(ms|s|m|h|d)$'
const DIGITS = '^[1-9]\\d{0,15}$'

/** The requirement of a pattern, in words. */
export function patternWords(pattern: string | RegExp): string {
  return String(pattern) === DURATION ? "a duration such as '30s'" : 'a text of 1 to 16 digits'
}

export const duration = (description: string): TOptional<TUnsafe<Duration>> =>
  Type.Optional(Type.Unsafe<Duration>({ type: 'string', pattern: DURATION, examples: ['30s'], description }))

export const wait: TOptional<TUnsafe<Duration>> = duration(
  'How long to wait if there is nothing; more than 50s is treated as 50s.',
)

export const limit = (byDefault: number): TOptional<TInteger> =>
  Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1000, description: `The maximum number; default ${byDefault}.` }),
  )

export const origin: TOptional<TString> = Type.Optional(
  Type.String({ description: 'Name of the writer or reader: 1 to 64 of A-Z a-z 0-9 _ . -' }),
)

export const flag = (description: string): TOptional<TBoolean> => Type.Optional(Type.Boolean({ description }))

export const after: TOptional<TString> = Type.Optional(
  Type.String({ description: 'A cursor, or `end`; default: the oldest message.' }),
)

export const echo: TOptional<TBoolean> = flag('false hides messages that `origin` appended.')

export const includeClaimed: TOptional<TBoolean> = flag('false hides messages while a claim holds them.')

export const name: TString = Type.String({
  minLength: 1,
  description: 'Any UTF-8 without control characters, percent-encoded; about 380 bytes or more.',
})
export const id: TString = Type.String({ description: 'The id of a message.' })
export const subscriber: TString = Type.String({ minLength: 1, description: 'The name of a subscriber.' })
export const token: TString = Type.String({ pattern: DIGITS, description: 'The token of a claim.' })
export const leaseToken: TString = Type.String({ pattern: DIGITS, description: 'The token of a lease.' })

export const strict = { additionalProperties: false } as const

export const WaitQuery: TObject<{ wait: typeof wait }> = Type.Object({ wait }, strict)
export const NoQuery: TObject = Type.Object({}, strict)

export const lease: ReturnType<typeof duration> = duration('How long the lease lasts; default 30s.')
export const holder: TOptional<TString> = Type.Optional(
  Type.String({ description: 'Name of the holder in inspections; default: the address of the client.' }),
)

export const Extension: TObject<{ lease: typeof lease }> = Type.Object({ lease }, strict)

/** The defined members, and the name of the holder. */
export function withHolder<Terms extends { holder?: string }>(
  request: FastifyRequest,
  terms: Terms,
): Terms & { holder: string } {
  return { ...terms, holder: terms.holder ?? request.ip }
}
