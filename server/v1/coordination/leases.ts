// Extending and giving back, wherever there are leases: by their tokens, whoever has them.

import type { TObject } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { App } from '../../http/fastify.ts'
import { answers, BODY } from '../api/answers.ts'
import { extended, released } from './answers.ts'
import { Extension } from '../api/strictness.ts'
import type { Leases } from '../api/lending.ts'
import type { FeedLimits } from '../api/limits.ts'

export interface LeasePlace {
  /** With `:token` in it. */
  readonly url: string
  readonly tag: string
  readonly params: TObject
  readonly querystring: TObject
  open(request: FastifyRequest): Pick<Leases, 'extend' | 'release'>
}

export function keepLeases(app: App, place: LeasePlace, { maxOtherBytes }: FeedLimits): void {
  const { url, tag, params, querystring, open } = place
  const tags = [tag]

  const longer = {
    tags,
    summary: 'Extend',
    params,
    querystring,
    body: Extension,
    response: answers(extended, 410, ...BODY),
  }
  app.patch(url, { schema: longer, bodyLimit: maxOtherBytes }, async (request) => {
    const token = tokenOf(request)
    const { leaseMs, expiresAtMs } = await open(request).extend(token, request.body.lease ?? '30s')
    return { token, leaseMs, expiresAtMs }
  })

  const given = { tags, summary: 'Release', params, querystring, response: answers(released, 410) }
  app.delete(url, { schema: given }, async (request, reply) => {
    await open(request).release(tokenOf(request))
    return reply.code(204).send()
  })
}

function tokenOf({ params }: { params: unknown }): number {
  return Number((params as { token: string }).token)
}
