import { type Static, Type } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { Lock, LockAccess, LockOptions } from 'perilune'
import type { App } from '../../http/fastify.ts'
import { answers, BODY } from '../api/answers.ts'
import { flag } from '../api/arguments.ts'
import { cleared, lent, lock as picture } from './answers.ts'
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

const tags = ['locks']
const Terms = Type.Object(
  {
    lease,
    holder,
    order: Type.Optional(
      Type.Unsafe<'fair' | 'barging'>({
        type: 'string',
        enum: ['fair', 'barging'],
        description:
          'Who gets a lock that becomes free: the first in line, the default, or whoever comes first.',
      }),
    ),
    shared: flag('true: together with others who share it.'),
  },
  strict,
)
const Sharing = Type.Object({ shared: flag('true when the lease is a shared one.') }, strict)

export function v1Locks(app: App, parts: Parts): void {
  const open = (request: FastifyRequest, name: string, options: LockOptions = {}): Lock =>
    parts.perilune.lock(nameOf(request, name), options)
  const opened: Opened = (request) => open(request, (request.params as { name: string }).name)
  lendLocks(app, parts, open)
  keepLeases(
    app,
    {
      url: '/locks/:name/leases/:token',
      tag: 'locks',
      params: LeasePath,
      querystring: Sharing,
      open: (request) => accessTo(opened(request), (request.query as Static<typeof Sharing>).shared),
    },
    parts.limits,
  )
  wholeLocks(app, opened)
}

type Opened = (request: FastifyRequest) => Lock
type Open = (request: FastifyRequest, name: string, options?: LockOptions) => Lock

function lendLocks(app: App, parts: Parts, open: Open): void {
  const schema = {
    tags,
    summary: 'Acquire',
    params: NamePath,
    querystring: WaitQuery,
    body: Terms,
    response: answers(lent('The lock'), ...BODY),
  }
  const options = { schema, bodyLimit: parts.limits.maxOtherBytes }
  app.post('/locks/:name/leases', options, async (request, reply) => {
    const { name } = request.params
    const { shared, ...terms } = request.body
    const leases = accessTo(open(request, name, withHolder(request, terms)), shared)
    const path = `/v1/locks/${encodeURIComponent(name)}/leases`
    const place = { path, query: shared === true ? '?shared=true' : '' }
    return sendLent(reply, parts, { leases, wait: request.query.wait }, place)
  })
}

function wholeLocks(app: App, opened: Opened): void {
  const url = '/locks/:name'

  const seen = {
    tags,
    summary: 'Inspect',
    params: NamePath,
    querystring: NoQuery,
    response: answers(picture),
  }
  app.get(url, { schema: seen }, async (request) => {
    return { name: request.params.name, ...(await opened(request).inspect()) }
  })

  const gone = { tags, summary: 'Clear', params: NamePath, querystring: NoQuery, response: answers(cleared) }
  app.delete(url, { schema: gone }, async (request, reply) => {
    await opened(request).clear()
    return reply.code(204).send()
  })
}

function accessTo(lock: Lock, shared: boolean | undefined): LockAccess {
  return shared === true ? lock.shared : lock
}
