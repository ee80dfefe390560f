// How a route of /v1 is declared: its arguments, its answers, and its handler.

import { type Static, type TProperties, type TSchema, Type } from '@fastify/type-provider-typebox'
import type { FastifyContextConfig, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { Perilune } from 'perilune'
import type { App } from '../../http/fastify.ts'
import { nameOf } from '../../http/requests/tenant.ts'
import { type Answers, answers, BODY } from './answers.ts'
import type { NoQuery } from './arguments.ts'
import type { FeedLimits } from './limits.ts'
import type { Waits } from './waits.ts'

/** The objects that the routes of all structures need. */
export interface RouteParts {
  readonly perilune: Perilune
  readonly waits: Waits
  readonly limits: FeedLimits
}

/** The terms of one method of a path. */
export interface RouteTerms<Query extends TSchema, Body extends TSchema> {
  readonly description?: string
  /** Default: the query of all routes. */
  readonly query?: Query
  readonly body?: Body
  /** Whether the body may be as large as that of an append; by default it is small. */
  readonly large?: boolean
  /** See FastifyContextConfig. */
  readonly documents?: readonly string[] | 'whole'
  /** Headers that the route reads, with their meanings. */
  readonly described?: Readonly<Record<string, string>>
  readonly answers: Answers
  /** Statuses of problems, in addition to those of every route and every body. */
  readonly or?: readonly number[]
  readonly config?: FastifyContextConfig
  readonly exposeHeadRoute?: boolean
}

/** `/queues/:name/jobs/:id` → `'name' | 'id'`. */
type NamesIn<Url extends string> = Url extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NamesIn<`/${Rest}`>
  : Url extends `${string}:${infer Name}`
    ? Name
    : never

/** A request of a route. */
export type RouteRequest<
  Url extends string,
  Query extends TSchema,
  Body extends TSchema = TSchema,
> = FastifyRequest<{
  Params: Readonly<Record<NamesIn<Url>, string>>
  Querystring: Static<Query>
  Body: Static<Body>
}>

type Declare<UsualQuery extends TSchema> = <
  Url extends string,
  Query extends TSchema = UsualQuery,
  Body extends TSchema = TSchema,
>(
  url: Url,
  summary: string,
  terms: RouteTerms<Query, Body>,
  /** If it returns undefined, the answer is 204. */
  handler: (request: RouteRequest<Url, Query, Body>, reply: FastifyReply) => Promise<unknown>,
) => void

/** The terms of all routes of a kind. */
interface Usual<Query extends TSchema> {
  /** Their section in the description. */
  readonly tag: string
  /** The parameters of their paths, by name. */
  readonly path: Readonly<Record<string, TSchema>>
  readonly query: Query
}

export class Routes<Query extends TSchema = typeof NoQuery> {
  readonly perilune: Perilune
  readonly waits: Waits
  readonly limits: FeedLimits
  readonly get: Declare<Query> = (...route) => this.#declare('GET', ...route)
  readonly post: Declare<Query> = (...route) => this.#declare('POST', ...route)
  readonly put: Declare<Query> = (...route) => this.#declare('PUT', ...route)
  readonly patch: Declare<Query> = (...route) => this.#declare('PATCH', ...route)
  readonly delete: Declare<Query> = (...route) => this.#declare('DELETE', ...route)
  readonly #app: App
  readonly #usual: Usual<Query>

  constructor(app: App, { perilune, waits, limits }: RouteParts, usual: Usual<Query>) {
    this.perilune = perilune
    this.waits = waits
    this.limits = limits
    this.#app = app
    this.#usual = usual
  }

  /** Routes with some terms changed. */
  with(changed: Partial<Omit<Usual<Query>, 'query'>>): Routes<Query>
  with<Other extends TSchema>(changed: Partial<Usual<Other>>): Routes<Other>
  with({ path, ...changed }: Partial<Usual<TSchema>>): Routes<TSchema> {
    const usual = { ...this.#usual, ...changed, path: { ...this.#usual.path, ...path } }
    return new Routes<TSchema>(this.#app, this, usual)
  }

  #declare<Url extends string, Own extends TSchema, Body extends TSchema>(
    method: HTTPMethods,
    url: Url,
    summary: string,
    {
      body,
      large,
      documents,
      answers: own,
      or = [],
      query,
      config,
      exposeHeadRoute,
      ...said
    }: RouteTerms<Own, Body>,
    handler: (request: RouteRequest<Url, Own, Body>, reply: FastifyReply) => Promise<unknown>,
  ): void {
    const { maxAppendBytes, maxOtherBytes } = this.limits
    const isLimited = body !== undefined || large !== undefined
    const querystring = query ?? this.#usual.query
    this.#app.route({
      method,
      url,
      schema: {
        tags: [this.#usual.tag],
        summary,
        ...said,
        ...this.#paramsOf(url),
        querystring,
        ...(body === undefined ? {} : { body }),
        response: answers(own, ...or, ...(body === undefined ? [] : BODY)),
      },
      ...(isLimited ? { bodyLimit: large === true ? maxAppendBytes : maxOtherBytes } : {}),
      config: { ...config, ...(documents === undefined ? {} : { documents }) },
      ...(exposeHeadRoute === undefined ? {} : { exposeHeadRoute }),
      handler: async (request, reply) => {
        const result = await handler(request as unknown as RouteRequest<Url, Own, Body>, reply)
        // A returned reply is undefined here too: it is awaited until it has been sent, or its client has left. Fastify
        // knows what is still to be sent.
        if (result === undefined && !reply.raw.headersSent) reply.code(204)
        return result
      },
    })
  }

  #paramsOf(url: string): { params?: TSchema } {
    const named = [...url.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, this.#usual.path[name]] as const)
    return named.length === 0 ? {} : { params: Type.Object(Object.fromEntries(named) as TProperties) }
  }
}

/** The library's name of the structure that a request is for. */
export function namedIn(request: FastifyRequest): string {
  return nameOf(request, (request.params as { name: string }).name)
}
