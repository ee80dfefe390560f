// How a route of /v1 is declared: what may be asked, what is answered, and what is done.

import type { Static, TSchema } from '@fastify/type-provider-typebox'
import type { FastifyContextConfig, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { Perilune } from 'perilune'
import type { App } from '../../http/fastify.ts'
import { type Answers, answers, BODY } from './answers.ts'
import { NoQuery } from './arguments.ts'
import type { FeedLimits } from './limits.ts'
import type { Waits } from './waits.ts'

/** What the routes of all structures need. */
export interface RouteParts {
  readonly perilune: Perilune
  readonly waits: Waits
  readonly limits: FeedLimits
}

export interface RouteTerms<Params extends TSchema, Query extends TSchema, Body extends TSchema> {
  readonly summary: string
  readonly description?: string
  readonly params?: Params
  /** By default there is none; null: whatever it says is passed over. */
  readonly query?: Query | null
  readonly body?: Body
  /** Of a body; by default it is small. */
  readonly bodyLimit?: 'maxAppendBytes' | 'maxOtherBytes'
  /** Headers that the route reads, with what they mean. */
  readonly described?: Readonly<Record<string, string>>
  readonly answers: Answers
  /** Statuses of problems, beside those that every route has, or every body. */
  readonly problems?: readonly number[]
  readonly config?: FastifyContextConfig
  readonly exposeHeadRoute?: boolean
}

type RouteRequest<Params extends TSchema, Query extends TSchema, Body extends TSchema> = FastifyRequest<{
  Params: Static<Params>
  Querystring: Static<Query>
  Body: Static<Body>
}>

/** Where nothing is told the answer is 204. */
type Handler<Params extends TSchema, Query extends TSchema, Body extends TSchema> = (
  request: RouteRequest<Params, Query, Body>,
  reply: FastifyReply,
) => Promise<unknown>

type Declare = <
  Params extends TSchema = TSchema,
  Query extends TSchema = typeof NoQuery,
  Body extends TSchema = TSchema,
>(
  url: string,
  terms: RouteTerms<Params, Query, Body>,
  handler: Handler<Params, Query, Body>,
) => void

export class Routes implements RouteParts {
  readonly perilune: Perilune
  readonly waits: Waits
  readonly limits: FeedLimits
  readonly get: Declare = (...route) => this.#declare('GET', ...route)
  readonly post: Declare = (...route) => this.#declare('POST', ...route)
  readonly put: Declare = (...route) => this.#declare('PUT', ...route)
  readonly patch: Declare = (...route) => this.#declare('PATCH', ...route)
  readonly delete: Declare = (...route) => this.#declare('DELETE', ...route)
  readonly #app: App
  readonly #parts: RouteParts
  readonly #tag: string

  constructor(app: App, parts: RouteParts, tag: string) {
    this.perilune = parts.perilune
    this.waits = parts.waits
    this.limits = parts.limits
    this.#app = app
    this.#parts = parts
    this.#tag = tag
  }

  /** Those of another part of the description. */
  tagged(tag: string): Routes {
    return new Routes(this.#app, this.#parts, tag)
  }

  #declare<Params extends TSchema, Query extends TSchema, Body extends TSchema>(
    method: HTTPMethods,
    url: string,
    terms: RouteTerms<Params, Query, Body>,
    handler: Handler<Params, Query, Body>,
  ): void {
    const {
      query = NoQuery,
      body,
      bodyLimit,
      answers: own,
      problems = [],
      config,
      exposeHeadRoute,
      ...said
    } = terms
    const statuses = body === undefined ? problems : [...problems, ...BODY]
    const most = bodyLimit ?? (body === undefined ? null : 'maxOtherBytes')
    this.#app.route({
      method,
      url,
      schema: {
        tags: [this.#tag],
        ...said,
        ...(query === null ? {} : { querystring: query }),
        ...(body === undefined ? {} : { body }),
        response: answers(own, ...statuses),
      },
      ...(most === null ? {} : { bodyLimit: this.limits[most] }),
      ...(config === undefined ? {} : { config }),
      ...(exposeHeadRoute === undefined ? {} : { exposeHeadRoute }),
      handler: async (request, reply) => {
        const told = await handler(request as RouteRequest<Params, Query, Body>, reply)
        return told === undefined ? reply.code(204).send() : told
      },
    })
  }
}

/** The name of the structure that a request is for. */
export function nameIn({ params }: FastifyRequest): string {
  return (params as { name: string }).name
}
