// An election is the lock of the same name: its holder is the leader.

import { Type } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { namedIn, type Routes } from '../api/routes.ts'
import { election, leased } from './answers.ts'
import { holder, lease, strict, WaitQuery, withHolder } from '../api/arguments.ts'
import { sendLease } from '../api/leases.ts'
import { nameOf } from '../../http/requests/tenant.ts'
import { keepLeases } from './leases.ts'

const Candidacy = Type.Object({ lease, holder }, strict)

export function v1Elections(routes: Routes): void {
  const nameIn = (request: FastifyRequest): string => namedIn(request)
  const place = {
    url: '/elections/:name/terms/:token',
    open: (request: FastifyRequest) => routes.perilune.lock(nameIn(request)).byToken,
  }
  stand(routes)
  keepLeases(routes, place)

  routes.get('/elections/:name', 'Who leads', { answers: election }, async (request) => {
    const leader = await routes.perilune.election(nameIn(request)).leader()
    return { name: request.params.name, leader }
  })
}

function stand(routes: Routes): void {
  routes.post(
    '/elections/:name/terms',
    'Stand as a candidate',
    { query: WaitQuery, body: Candidacy, answers: leased('The office') },
    async (request, reply) => {
      const { name } = request.params
      const leases = routes.perilune.lock(nameOf(request, name), withHolder(request, request.body))
      const path = `/v1/elections/${encodeURIComponent(name)}/terms`
      return sendLease(reply, routes, { leases, wait: request.query.wait }, { path })
    },
  )
}
