// Claims, and what becomes of one claimed job.

import { Type } from '@fastify/type-provider-typebox'
import { InvalidArgumentError, type LentJob, type Queue } from 'perilune'
import type { App } from '../fastify.ts'
import { answers, BODY } from '../v1/answers.ts'
import { lease, NamePath, NoQuery, strict, WaitQuery } from '../v1/coordination/arguments.ts'
import { askWaiting, type Parts } from '../v1/coordination/lending.ts'
import { acked, buried, claimed, extended, retried } from '../v1/queues/answers.ts'
import { AttemptPath, delay, kind, message } from '../v1/queues/arguments.ts'
import { encodeLent } from '../v1/queues/encode.ts'
import { heldOutcome, type Open } from '../v1/queues/open.ts'

const tags = ['queues']
const url = '/queues/:name/jobs/:id/claims/:token'
const Terms = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 200, description: 'At most so many; default 1.' }),
    ),
    lease,
  },
  strict,
)
const Lease = Type.Object({ lease }, strict)
const Retry = Type.Object({ delay, kind, message }, strict)
const Bury = Type.Object({ kind, message }, strict)
const common = { tags, params: AttemptPath, querystring: NoQuery }

export function queueClaims(app: App, parts: Parts, open: Open): void {
  claim(app, parts, open)
  extendOne(app, parts, open)
  ackOne(app, parts, open)
  failOne(app, parts, open)
}

function claim(app: App, { waits, limits }: Parts, open: Open): void {
  const schema = {
    tags,
    summary: 'Claim',
    params: NamePath,
    querystring: WaitQuery,
    body: Terms,
    response: answers(claimed, ...BODY),
  }
  const options = { schema, bodyLimit: limits.maxOtherBytes }
  app.post('/queues/:name/claims', options, async (request, reply) => {
    const queue = open(request)
    const lent = await askWaiting(reply, { waits, wait: request.query.wait }, (waiting) =>
      queue.lend({ ...request.body, ...waiting }),
    )
    if (lent === null || lent.jobs.length === 0) return reply.code(204).send()
    if (reply.raw.destroyed) await giveBack(queue, lent.jobs)
    return reply.code(201).type('application/json').send(encodeLent(lent))
  })
}

/** Nobody is there to work on them: others need not wait for the leases to end. */
async function giveBack(queue: Queue, jobs: readonly LentJob[]): Promise<void> {
  const why = { delay: '0ms', kind: 'closed', message: 'its client had left' } as const
  await queue.settle.retry(jobs.map(({ id, token }) => ({ id, token, ...why })))
}

function extendOne(app: App, { limits }: Parts, open: Open): void {
  const schema = { ...common, summary: 'Extend', body: Lease, response: answers(extended, ...BODY) }
  app.patch(url, { schema, bodyLimit: limits.maxOtherBytes }, async (request) => {
    const { id, token } = leaseOf(request)
    const { leaseMs, expiresAtMs, jobs } = await open(request).settle.extend(
      [{ id, token }],
      request.body.lease,
    )
    heldOutcome(jobs, token)
    return { id, token, leaseMs, expiresAtMs }
  })
}

function ackOne(app: App, { limits }: Parts, open: Open): void {
  const plain = { ...common, summary: 'Ack', response: answers(acked) }
  app.delete(url, { schema: plain }, async (request, reply) => {
    const { id, token } = leaseOf(request)
    heldOutcome(await open(request).settle.ack([{ id, token }]), token)
    return reply.code(204).send()
  })

  const withResult = {
    ...common,
    summary: 'Ack with a result',
    description: 'Any JSON; kept to the letter where the queue keeps jobs that are done.',
    body: Type.Unknown(),
    response: answers(acked, ...BODY),
  }
  const options = { schema: withResult, bodyLimit: limits.maxAppendBytes }
  app.put(`${url}/result`, options, async (request, reply) => {
    const { id, token } = leaseOf(request)
    if (request.jsonText === '') throw new InvalidArgumentError('body', 'is missing')
    heldOutcome(await open(request).settle.ack([{ id, token, result: request.jsonText }]), token)
    return reply.code(204).send()
  })
}

function failOne(app: App, { limits }: Parts, open: Open): void {
  const bodyLimit = limits.maxOtherBytes

  const again = { ...common, summary: 'Retry', body: Retry, response: answers(retried, ...BODY) }
  app.post(`${url}/retry`, { schema: again, bodyLimit }, async (request) => {
    const { id, token } = leaseOf(request)
    const outcome = heldOutcome(await open(request).settle.retry([{ id, token, ...request.body }]), token)
    return { id, token, outcome }
  })

  const never = { ...common, summary: 'Bury', body: Bury, response: answers(buried, ...BODY) }
  app.post(`${url}/bury`, { schema: never, bodyLimit }, async (request, reply) => {
    const { id, token } = leaseOf(request)
    heldOutcome(await open(request).settle.bury([{ id, token, ...request.body }]), token)
    return reply.code(204).send()
  })
}

function leaseOf({ params }: { params: { id: string; token: string } }): { id: string; token: number } {
  return { id: params.id, token: Number(params.token) }
}
