// An election is the lock of the same name: whoever has it leads.

import { Type } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { App } from '../../http/fastify.ts'
import { answers, BODY } from '../api/answers.ts'
import { election, lent } from './answers.ts'
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
import { keepLeases } from './leases.ts'

const tags = ['elections']
const Candidacy = Type.Object({ lease, holder }, strict)

export function v1Elections(app: App, parts: Parts): void {
  const nameIn = (request: FastifyRequest): string =>
    nameOf(request, (request.params as { name: string }).name)
  const place = {
    url: '/elections/:name/terms/:token',
    tag: 'elections',
    params: LeasePath,
    querystring: NoQuery,
    open: (request: FastifyRequest) => parts.perilune.lock(nameIn(request)),
  }
  stand(app, parts)
  keepLeases(app, place, parts.limits)

  const seen = {
    tags,
    summary: 'Who leads',
    params: NamePath,
    querystring: NoQuery,
    response: answers(election),
  }
  app.get('/elections/:name', { schema: seen }, async (request) => {
    const leader = await parts.perilune.election(nameIn(request)).leader()
    return { name: request.params.name, leader }
  })
}

function stand(app: App, parts: Parts): void {
  const schema = {
    tags,
    summary: 'Stand as a candidate',
    params: NamePath,
    querystring: WaitQuery,
    body: Candidacy,
    response: answers(lent('The office'), ...BODY),
  }
  const options = { schema, bodyLimit: parts.limits.maxOtherBytes }
  app.post('/elections/:name/terms', options, async (request, reply) => {
    const { name } = request.params
    const leases = parts.perilune.lock(nameOf(request, name), withHolder(request, request.body))
    const path = `/v1/elections/${encodeURIComponent(name)}/terms`
    return sendLent(reply, parts, { leases, wait: request.query.wait }, { path })
  })
}
