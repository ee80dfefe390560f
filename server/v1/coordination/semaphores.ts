import { Type } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { Semaphore, SemaphoreOptions, Waiting } from 'perilune'
import { namedIn, type Routes } from '../api/routes.ts'
import { cleared, leased, semaphore as picture, resized } from './answers.ts'
import { holder, lease, strict, WaitQuery, withHolder } from '../api/arguments.ts'
import { sendLease } from '../api/leases.ts'
import { RefusedRequest } from '../../http/answers/problem-documents.ts'
import { keepLeases } from './leases.ts'

const MAX_LIMIT = 1_000_000_000
const amount = (description: string) => Type.Integer({ minimum: 1, maximum: MAX_LIMIT, description })
const limit = amount('The limit on the total weight of all permits.')
const Terms = Type.Object(
  {
    limit,
    weight: Type.Optional(amount('The weight of the permit within the limit; default 1.')),
    lease,
    holder,
  },
  strict,
)
const Limit = Type.Object({ limit }, strict)
// This needs no permit, so any limit will do.
const ANY_LIMIT = { limit: 1 }

export function v1Semaphores(routes: Routes): void {
  const open: Open = (request, options = ANY_LIMIT) => routes.perilune.semaphore(namedIn(request), options)
  const place = {
    url: '/semaphores/:name/leases/:token',
    open: (request: FastifyRequest) => open(request).byToken,
  }
  acquirePermits(routes, open)
  keepLeases(routes, place)
  resize(routes, open)
  wholeSemaphores(routes, open)
}

type Open = (request: FastifyRequest, options?: SemaphoreOptions) => Semaphore

function acquirePermits(routes: Routes, open: Open): void {
  routes.post(
    '/semaphores/:name/leases',
    'Acquire',
    { query: WaitQuery, body: Terms, answers: leased('A permit') },
    async (request, reply) => {
      const { weight = 1, ...terms } = request.body
      const semaphore = open(request, withHolder(request, terms))
      const leases = {
        acquireDetached: (waiting: Waiting) => semaphore.acquireDetached({ weight, ...waiting }),
        byToken: semaphore.byToken,
      }
      const path = `/v1/semaphores/${encodeURIComponent(request.params.name)}/leases`
      return sendLease(reply, routes, { leases, wait: request.query.wait }, { path })
    },
  )
}

function resize(routes: Routes, open: Open): void {
  routes.put(
    '/semaphores/:name/limit',
    'Set the limit',
    {
      description: 'For all clients, whatever limit they pass. No permit is revoked.',
      body: Limit,
      answers: resized,
    },
    async (request) => {
      await open(request).resize(request.body.limit)
    },
  )
}

function wholeSemaphores(routes: Routes, open: Open): void {
  const url = '/semaphores/:name'

  routes.get(url, 'Inspect', { answers: picture, or: [404] }, async (request) => {
    const { name } = request.params
    const seenNow = await open(request).inspect()
    // Its limit is not stored either.
    if (seenNow.token === null && !seenNow.resized)
      throw new RefusedRequest('not-found', `There is no semaphore ${name}.`)
    return { name, ...seenNow }
  })

  routes.delete(url, 'Clear', { answers: cleared }, async (request) => {
    await open(request).clear()
  })
}
