import { Type } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Allowed, type Denied, rateLimitHeaders } from 'perilune'
import type { Routes } from '../api/routes.ts'
import { duration, strict } from '../api/arguments.ts'
import { cleared, checked, subject as picture, refunded, released, taken } from './answers.ts'
import { freePlaces, type SubjectLimiter, limitsIn, openLimiter } from './limiters.ts'
import { Denial } from '../../http/answers/problem-documents.ts'

const MAX_UNITS = 10_000_000
const units = (description: string) => Type.Integer({ minimum: 1, maximum: MAX_UNITS, description })

const oneLimit = {
  limit: units('Units that become available again in a window, or the maximum of concurrent takes.'),
  window: duration('The window; not for concurrent takes.'),
  algorithm: Type.Optional(
    Type.Unsafe<'gcra' | 'sliding-window' | 'concurrency'>({
      type: 'string',
      enum: ['gcra', 'sliding-window', 'concurrency'],
      description: 'Default gcra.',
    }),
  ),
  burst: Type.Optional(units('For gcra: units that may be taken at once; default `limit`.')),
  lease: duration('For concurrency: when a place that was never released is free again; default 1m.'),
}
const Limits = Type.Record(Type.String(), Type.Object(oneLimit, strict), {
  description: 'One to eight limits by name: a take is from all of them, or from none.',
})
const Cost = Type.Optional(units('Units; default 1.'))
const TakeToken = Type.Optional(
  Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'The token of the take.' }),
)

const path = {
  subject: Type.String({
    minLength: 1,
    description: 'The subject of the limit: a user, an address, an API key.',
  }),
}
const Take = Type.Union([
  Type.Object({ limits: Limits, cost: Cost }, strict),
  Type.Object({ ...oneLimit, cost: Cost }, strict),
])
const Refund = Type.Union([
  Type.Object({ limits: Limits, cost: Cost, token: TakeToken }, strict),
  Type.Object({ ...oneLimit, cost: Cost, token: TakeToken }, strict),
])
const LimitsQuery = Type.Object(
  {
    ...oneLimit,
    limit: Type.Optional(oneLimit.limit),
    limits: Type.Optional(Type.String({ description: 'Several limits, as JSON.' })),
  },
  strict,
)

const url = '/rate-limits/:name/subjects/:subject'
// A deletion needs no limit, so any will do.
const ANY_LIMIT = { limit: 1, window: '1s' }

export function v1RateLimits(usual: Routes): void {
  const routes = usual.with({ path })
  const open: Open = (request, limits) => openLimiter(routes.perilune, request, limits)
  take(routes, open)
  check(routes, open)
  refund(routes, open)
  releasePlaces(routes, open)
  wholeSubjects(routes, open)
}

type Open = (request: FastifyRequest, limits: object) => SubjectLimiter

function take(routes: Routes, open: Open): void {
  routes.post(`${url}/takes`, 'Take', { body: Take, answers: taken }, async (request, reply) => {
    const { cost = 1, ...given } = request.body
    const { subject } = request.params
    const limiter = open(request, given)
    const decision = await limiter.take(subject, { cost })
    if (decision.allowed && reply.raw.destroyed) await freePlaces(limiter, subject, decision)
    if (decision.allowed) return sendDecision(reply, decision)
    throw new Denial(
      'rate-limited',
      'Too much was taken; nothing was taken now.',
      decision,
      rateLimitHeaders(decision),
    )
  })
}

function check(routes: Routes, open: Open): void {
  routes.post(
    `${url}/checks`,
    'Peek',
    {
      description: 'The answer that a take would get now. Takes and writes nothing.',
      body: Take,
      answers: checked,
    },
    async (request, reply) => {
      const { cost = 1, ...given } = request.body
      return sendDecision(reply, await open(request, given).get(request.params.subject, { cost }))
    },
  )
}

function refund(routes: Routes, open: Open): void {
  routes.post(
    `${url}/refunds`,
    'Refund',
    {
      description: 'Gives back units that were taken and not used. With a token it counts once.',
      body: Refund,
      answers: refunded,
    },
    async (request) => {
      const { cost = 1, token, ...given } = request.body
      const options = token === undefined ? { cost } : { cost, token }
      return { refunded: await open(request, given).refund(request.params.subject, options) }
    },
  )
}

function releasePlaces(routes: Routes, open: Open): void {
  routes.delete(
    `${url}/leases/:token`,
    'Release a place',
    { query: LimitsQuery, answers: released, or: [410] },
    async (request) => {
      const { subject, token } = request.params
      await open(request, limitsIn(request.query)).release(subject, Number(token))
    },
  )
}

function wholeSubjects(routes: Routes, open: Open): void {
  routes.get(url, 'Inspect', { query: LimitsQuery, answers: picture }, async (request) => {
    const { subject } = request.params
    return { subject, ...(await open(request, limitsIn(request.query)).inspect(subject)) }
  })

  routes.delete(url, 'Clear', { answers: cleared }, async (request) => {
    await open(request, ANY_LIMIT).clear(request.params.subject)
  })
}

function sendDecision(reply: FastifyReply, decision: Allowed | Denied): FastifyReply {
  return reply.headers(rateLimitHeaders(decision)).send(decision)
}
