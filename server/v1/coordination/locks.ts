import { type Static, Type } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { Lock, LockAccess, LockOptions } from 'perilune'
import type { Routes } from '../api/routes.ts'
import { WaitQuery, flag, holder, lease, strict, withHolder } from '../api/arguments.ts'
import { cleared, leased, lock as picture } from './answers.ts'
import { sendLease } from '../api/leases.ts'
import { nameOf } from '../../http/requests/tenant.ts'
import { keepLeases } from './leases.ts'

const Terms = Type.Object(
  {
    lease,
    holder,
    fair: flag(
      'false: the first request gets a lock that becomes free, even ahead of those in line; default true.',
    ),
    shared: flag('true: shared with other shared leases.'),
  },
  strict,
)
const Sharing = Type.Object({ shared: flag('true if the lease is a shared one.') }, strict)

export function v1Locks(routes: Routes): void {
  const open = (request: FastifyRequest, name: string, options: LockOptions = {}): Lock =>
    routes.perilune.lock(nameOf(request, name), options)
  const opened: Opened = (request) => open(request, (request.params as { name: string }).name)
  acquireLocks(routes, open)
  keepLeases(routes, {
    url: '/locks/:name/leases/:token',
    query: Sharing,
    open: (request) => accessTo(opened(request), (request.query as Static<typeof Sharing>).shared).byToken,
  })
  wholeLocks(routes, opened)
}

type Opened = (request: FastifyRequest) => Lock
type Open = (request: FastifyRequest, name: string, options?: LockOptions) => Lock

function acquireLocks(routes: Routes, open: Open): void {
  routes.post(
    '/locks/:name/leases',
    'Acquire',
    { query: WaitQuery, body: Terms, answers: leased('The lock') },
    async (request, reply) => {
      const { name } = request.params
      const { shared, ...terms } = request.body
      const leases = accessTo(open(request, name, withHolder(request, terms)), shared)
      const path = `/v1/locks/${encodeURIComponent(name)}/leases`
      const place = { path, query: shared === true ? '?shared=true' : '' }
      return sendLease(reply, routes, { leases, wait: request.query.wait }, place)
    },
  )
}

function wholeLocks(routes: Routes, opened: Opened): void {
  const url = '/locks/:name'

  routes.get(url, 'Inspect', { answers: picture }, async (request) => {
    return { name: request.params.name, ...(await opened(request).inspect()) }
  })

  routes.delete(url, 'Clear', { answers: cleared }, async (request) => {
    await opened(request).clear()
  })
}

function accessTo(lock: Lock, shared: boolean | undefined): LockAccess {
  return shared === true ? lock.shared : lock
}
