// Claims, and the settling of one claimed job.

import { type Static, Type } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  type Duration,
  InvalidArgumentError,
  type DetachedJobs,
  type Queue,
  type QueueClaimOptions,
} from 'perilune'
import { letBodyGo } from '../../http/bodies/bodies.ts'
import { lease, strict } from '../api/arguments.ts'
import { AckedJob, ackJobs } from './acks.ts'
import { acked as ackedOne, dead, claimed, extended, released, retried } from './answers.ts'
import { delay, kind, message, type QueueRoutes, QueueWaitQuery, releaseDelay } from './arguments.ts'
import { encodeDetached } from './encode.ts'
import { heldOutcome, type QueueOf } from './open.ts'
import { askWaiting } from '../api/leases.ts'
import type { RouteParts } from '../api/routes.ts'

const url = '/queues/:name/jobs/:id/claims/:token'
const Terms = Type.Object(
  {
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 200, description: 'The maximum number; default 1.' }),
    ),
    lease,
    acks: Type.Optional(
      Type.Array(AckedJob, {
        minItems: 1,
        maxItems: 500,
        description: 'Completed jobs: they are acked first.',
      }),
    ),
  },
  strict,
)
const Lease = Type.Object({ lease }, strict)
const Retry = Type.Object({ delay, kind, message }, strict)
const Failing = Type.Object({ kind, message }, strict)
const Release = Type.Object({ delay: releaseDelay }, strict)

export function queueClaims(routes: QueueRoutes, open: QueueOf): void {
  claim(routes, open)
  extendOne(routes, open)
  ackOne(routes, open)
  endOne(routes, open)
}

function claim(routes: QueueRoutes, open: QueueOf): void {
  routes.post(
    '/queues/:name/claims',
    'Claim',
    { query: QueueWaitQuery, body: Terms, answers: claimed, large: true, documents: ['result'] },
    async (request, reply) => {
      const terms = termsOf(request.body)
      const queue = open(request)
      const acked = await ackFirst(queue, request)
      // Results of acked jobs may be large, and the wait long.
      letBodyGo(request)
      const claiming = claimJobsTo(reply, routes, { queue, terms, wait: request.query.wait })
      // The outcomes of acks must be reported, even if the claim fails.
      const detached = await (acked === undefined ? claiming : claiming.catch(logged(request)))
      if (detached !== null)
        return reply.code(201).type('application/json').send(encodeDetached(detached, acked))
      return acked === undefined ? reply.code(204).send() : reply.code(200).send({ jobs: [], acked })
    },
  )
}

function termsOf(body: Static<typeof Terms>): Omit<Static<typeof Terms>, 'acks'> {
  const { acks: _, ...terms } = body
  return terms
}

async function ackFirst(
  queue: Pick<Queue, 'byToken'>,
  { body: { acks }, jsonText }: { body: Static<typeof Terms>; jsonText: string },
): Promise<object[] | undefined> {
  return acks === undefined ? undefined : ackJobs(queue, acks, jsonText, 'acks')
}

function logged({ log }: FastifyRequest): (error: unknown) => null {
  return (error) => {
    log.warn({ reason: String(error) }, 'the acks of a claim were done, and the claim failed')
    return null
  }
}

function extendOne(routes: QueueRoutes, open: QueueOf): void {
  routes.patch(url, 'Extend', { body: Lease, answers: extended }, async (request) => {
    const { id, token } = leaseOf(request)
    const { leaseMs, expiresAtMs, jobs } = await open(request).byToken.extend(
      [{ id, token }],
      request.body.lease,
    )
    heldOutcome(jobs, token)
    return { id, token, leaseMs, expiresAtMs }
  })
}

function ackOne(routes: QueueRoutes, open: QueueOf): void {
  routes.delete(url, 'Ack', { answers: ackedOne }, async (request) => {
    const { id, token } = leaseOf(request)
    heldOutcome(await open(request).byToken.ack([{ id, token }]), token)
  })

  routes.put(
    `${url}/result`,
    'Ack with a result',
    {
      description: 'Any JSON; stored unchanged if the queue keeps completed jobs.',
      body: Type.Unknown(),
      answers: ackedOne,
      large: true,
      documents: 'whole',
    },
    async (request) => {
      const { id, token } = leaseOf(request)
      if (request.jsonText === '') throw new InvalidArgumentError('body', 'is missing')
      heldOutcome(await open(request).byToken.ack([{ id, token, result: request.jsonText }]), token)
    },
  )
}

function endOne(routes: QueueRoutes, open: QueueOf): void {
  routes.post(`${url}/release`, 'Release', { body: Release, answers: released }, async (request) => {
    const { id, token } = leaseOf(request)
    heldOutcome(await open(request).byToken.release([{ id, token, ...request.body }]), token)
  })

  routes.post(`${url}/retry`, 'Retry', { body: Retry, answers: retried }, async (request) => {
    const { id, token } = leaseOf(request)
    const outcome = heldOutcome(await open(request).byToken.retry([{ id, token, ...request.body }]), token)
    return { id, token, outcome }
  })

  routes.post(`${url}/fail`, 'Fail', { body: Failing, answers: dead }, async (request) => {
    const { id, token } = leaseOf(request)
    heldOutcome(await open(request).byToken.fail([{ id, token, ...request.body }]), token)
  })
}

function leaseOf({ params }: { params: { id: string; token: string } }): { id: string; token: number } {
  return { id: params.id, token: Number(params.token) }
}

/** The terms of the request. */
interface Wish {
  readonly queue: Pick<Queue, 'claimDetached' | 'byToken'>
  readonly terms: Pick<QueueClaimOptions, 'limit' | 'lease'>
  readonly wait: Duration | undefined
}

/** Null if there is no job, or the client has left. */
export async function claimJobsTo(
  reply: FastifyReply,
  { waits }: Pick<RouteParts, 'waits'>,
  { queue, terms, wait }: Wish,
): Promise<DetachedJobs | null> {
  const detached = await askWaiting(reply, { waits, wait }, (waiting) =>
    queue.claimDetached({ ...terms, ...waiting }),
  )
  if (detached === null || detached.jobs.length === 0) return null
  if (!reply.raw.destroyed) return detached
  await queue.byToken.release(detached.jobs.map(({ id, token }) => ({ id, token })))
  return null
}
