// Jobs that requests claim, and wait for. Those of a client that has left are given back at once.

import type { FastifyReply } from 'fastify'
import type { Duration, LentJobs, Queue, QueueClaimOptions } from 'perilune'
import { askWaiting } from '../api/lending.ts'
import type { RouteParts } from '../api/routes.ts'

/** What a request asks for. */
interface Wish {
  readonly queue: Pick<Queue, 'lend' | 'settle'>
  readonly terms: Pick<QueueClaimOptions, 'limit' | 'lease'>
  readonly wait: Duration | undefined
}

/** Null when there is no job, or nobody there to work on one. */
export async function lendJobsTo(
  reply: FastifyReply,
  { waits }: Pick<RouteParts, 'waits'>,
  { queue, terms, wait }: Wish,
): Promise<LentJobs | null> {
  const lent = await askWaiting(reply, { waits, wait }, (waiting) => queue.lend({ ...terms, ...waiting }))
  if (lent === null || lent.jobs.length === 0) return null
  if (!reply.raw.destroyed) return lent
  await queue.settle.release(lent.jobs.map(({ id, token }) => ({ id, token })))
  return null
}
