// The arguments of requests for leases.

import { type TObject, type TOptional, type TString, Type } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { duration, leaseToken, name, wait } from './arguments.ts'

export const strict = { additionalProperties: false } as const

export const NamePath: TObject<{ name: TString }> = Type.Object({ name })
export const LeasePath: TObject<{ name: TString; token: TString }> = Type.Object({ name, token: leaseToken })
export const WaitQuery: TObject<{ wait: typeof wait }> = Type.Object({ wait }, strict)
export const NoQuery: TObject = Type.Object({}, strict)

export const lease: ReturnType<typeof duration> = duration('How long the lease lasts; default 30s.')
export const holder: TOptional<TString> = Type.Optional(
  Type.String({ description: 'What an inspection calls the holder; default: the address of the client.' }),
)

export const Extension: TObject<{ lease: typeof lease }> = Type.Object({ lease }, strict)

/** The members that are there, and how the holder is called. */
export function withHolder<Terms extends { holder?: string }>(
  request: FastifyRequest,
  terms: Terms,
): Terms & { holder: string } {
  return { ...terms, holder: terms.holder ?? request.ip }
}
