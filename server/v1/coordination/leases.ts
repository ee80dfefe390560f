// Extends and releases leases of every kind, by their tokens.

import type { TObject } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { Routes } from '../api/routes.ts'
import { extended, released } from './answers.ts'
import { Extension, NoQuery } from '../api/arguments.ts'
import type { LeasesByToken } from 'perilune'

export interface LeasePlace {
  /** With `:token` in it. */
  readonly url: string
  readonly query?: TObject
  open(request: FastifyRequest): Pick<LeasesByToken, 'extend' | 'release'>
}

export function keepLeases(routes: Routes, { url, query = NoQuery, open }: LeasePlace): void {
  routes.patch(url, 'Extend', { query, body: Extension, answers: extended, or: [410] }, async (request) => {
    const token = tokenOf(request)
    const { leaseMs, expiresAtMs } = await open(request).extend(token, request.body.lease ?? '30s')
    return { token, leaseMs, expiresAtMs }
  })

  routes.delete(url, 'Release', { query, answers: released, or: [410] }, async (request) => {
    await open(request).release(tokenOf(request))
  })
}

function tokenOf({ params }: { params: unknown }): number {
  return Number((params as { token: string }).token)
}
