import { Type } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { Semaphore, SemaphoreOptions, Waiting } from 'perilune'
import type { App } from '../../http/fastify.ts'
import { answers, BODY } from '../api/answers.ts'
import { cleared, lent, semaphore as picture, resized } from './answers.ts'
import {
  holder,
  LeasePath,
  lease,
  NamePath,
  NoQuery,
  strict,
  WaitQuery,
  withHolder,
} from '../api/strictness.ts'
import { type Parts, sendLent } from '../api/lending.ts'
import { nameOf } from '../../http/requests/tenant.ts'
import { Refusal } from '../../http/answers/problem-documents.ts'
import { keepLeases } from './leases.ts'

const tags = ['semaphores']
const MAX_LIMIT = 1_000_000_000
const amount = (description: string) => Type.Integer({ minimum: 1, maximum: MAX_LIMIT, description })
const limit = amount('How much may be out at once, all permits together.')
const Terms = Type.Object(
  {
    limit,
    weight: Type.Optional(amount('How much of the limit the permit takes; default 1.')),
    lease,
    holder,
  },
  strict,
)
const Limit = Type.Object({ limit }, strict)
// Where no permit is asked for, any limit will do.
const ANY_LIMIT = { limit: 1 }

export function v1Semaphores(app: App, parts: Parts): void {
  const open: Open = (request, options = ANY_LIMIT) =>
    parts.perilune.semaphore(nameOf(request, (request.params as { name: string }).name), options)
  const place = {
    url: '/semaphores/:name/leases/:token',
    tag: 'semaphores',
    params: LeasePath,
    querystring: NoQuery,
    open: (request: FastifyRequest) => open(request),
  }
  lendPermits(app, parts, open)
  keepLeases(app, place, parts.limits)
  resize(app, parts, open)
  wholeSemaphores(app, open)
}

type Open = (request: FastifyRequest, options?: SemaphoreOptions) => Semaphore

function lendPermits(app: App, parts: Parts, open: Open): void {
  const schema = {
    tags,
    summary: 'Acquire',
    params: NamePath,
    querystring: WaitQuery,
    body: Terms,
    response: answers(lent('A permit'), ...BODY),
  }
  const options = { schema, bodyLimit: parts.limits.maxOtherBytes }
  app.post('/semaphores/:name/leases', options, async (request, reply) => {
    const { weight = 1, ...terms } = request.body
    const semaphore = open(request, withHolder(request, terms))
    const leases = {
      lend: (waiting: Waiting) => semaphore.lend({ weight, ...waiting }),
      release: (token: number) => semaphore.release(token),
    }
    const path = `/v1/semaphores/${encodeURIComponent(request.params.name)}/leases`
    return sendLent(reply, parts, { leases, wait: request.query.wait }, { path })
  })
}

function resize(app: App, { limits }: Parts, open: Open): void {
  const schema = {
    tags,
    summary: 'Set the limit',
    description: 'For all who use it, whatever they ask with. Nobody loses a permit.',
    params: NamePath,
    querystring: NoQuery,
    body: Limit,
    response: answers(resized, ...BODY),
  }
  const options = { schema, bodyLimit: limits.maxOtherBytes }
  app.put('/semaphores/:name/limit', options, async (request, reply) => {
    await open(request).resize(request.body.limit)
    return reply.code(204).send()
  })
}

function wholeSemaphores(app: App, open: Open): void {
  const url = '/semaphores/:name'

  const seen = {
    tags,
    summary: 'Inspect',
    params: NamePath,
    querystring: NoQuery,
    response: answers(picture, 404),
  }
  app.get(url, { schema: seen }, async (request) => {
    const { name } = request.params
    const seenNow = await open(request).inspect()
    // Its limit is not known either.
    if (seenNow.token === null && !seenNow.resized)
      throw new Refusal('not-found', `There is no semaphore ${name}.`)
    return { name, ...seenNow }
  })

  const gone = { tags, summary: 'Clear', params: NamePath, querystring: NoQuery, response: answers(cleared) }
  app.delete(url, { schema: gone }, async (request, reply) => {
    await open(request).clear()
    return reply.code(204).send()
  })
}
