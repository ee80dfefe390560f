// The arguments of requests for caches, and the cache of a request.

import type { TArray, TInteger, TObject, TOptional, TString, TUnknown } from '@fastify/type-provider-typebox'
import { Type } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { type Cache, type CacheOptions, jsonText, type Perilune } from 'perilune'
import { duration, strict } from '../api/arguments.ts'
import { namedIn } from '../api/routes.ts'

export type ServedCache = Cache<string | null>

type Lasting = ReturnType<typeof duration>

const key: TString = Type.String({ minLength: 1, description: 'The key of a value; up to 512 bytes.' })
const load: TString = Type.String({ minLength: 1, description: 'The `load` of an election.' })
/** The parameters in the paths of caches. */
export const path: Readonly<Record<'key' | 'load', TString>> = { key, load }
export const tags: TOptional<TArray<TString>> = Type.Optional(
  Type.Array(Type.String(), {
    maxItems: 16,
    description: 'The value ends when one of these tags is invalidated.',
  }),
)
const value: TUnknown = Type.Unknown({ description: 'Any JSON; stored unchanged.' })
const ttl: Lasting = duration('How long it is fresh; default 1m.')
const staleWhileRevalidate: Lasting = duration(
  'How long it may be served after that, while it is loaded again; default 0s.',
)
const version: TOptional<TInteger> = Type.Optional(
  Type.Integer({
    minimum: 1,
    description: 'Increases with every change: a version that is not greater is rejected.',
  }),
)
type LoadedMembers = {
  value: TUnknown
  ttl: Lasting
  staleWhileRevalidate: Lasting
  version: TOptional<TInteger>
}
export const Loaded: TObject<LoadedMembers> = Type.Object(
  { value, ttl, staleWhileRevalidate, version },
  strict,
)
export const NewValue: TObject<LoadedMembers & { tags: typeof tags }> = Type.Object(
  { value, ttl, staleWhileRevalidate, version, tags },
  strict,
)

/** The service has no loader to fall back on, so callers get the deadline of all other calls. */
const STORE_WITHIN = '5s'

/** The members with the terms of storage. */
export function howToKeep<Body extends { value: unknown }>(body: Body): Omit<Body, 'value'> {
  const { value: _value, ...how } = body
  return how
}

export function cacheOf(
  perilune: Perilune,
  request: FastifyRequest,
  options: Pick<CacheOptions<never>, 'lease'> = {},
): ServedCache {
  const called = namedIn(request)
  return perilune.cache<string | null>(called, { ...options, codec: jsonText, storeWithin: STORE_WITHIN })
}
