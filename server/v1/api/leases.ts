// Leases that requests wait for. A lease granted to a client that has left is given back at once.

import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { DriverError, type Duration, type DetachedLease, type LeasesByToken, type Waiting } from 'perilune'
import { msOf } from '../../process/duration.ts'
import { Problem } from '../../http/answers/problems.ts'
import type { RouteParts } from './routes.ts'
import { Denial } from '../../http/answers/problem-documents.ts'
import type { Waits } from './waits.ts'

const REST_MS = 100

export type Granted = Extract<DetachedLease, { status: 'granted' }>

/** Leases of one lock, election or semaphore, by their tokens. */
export interface Leases {
  acquireDetached(options: Waiting): Promise<DetachedLease<'held' | 'full'>>
  readonly byToken: Pick<LeasesByToken, 'release' | 'extend'>
}

/**
 * The result of `ask`, which waits as long as the request and the service allow, and is called again if that was too
 * short. Resolves to null if the client has left; throws if the service closes.
 */
export async function askWaiting<Value>(
  reply: FastifyReply,
  { waits, wait }: { waits: Waits; wait: Duration | undefined },
  ask: (options: Waiting) => Promise<Value>,
): Promise<Value | null> {
  if (wait === undefined) return ask({})
  const value = await waits.during(reply, (signal) => untilRoom(wait, signal, ask))
  if (value !== null) return value
  if (waits.closed) throw closing()
  return reply.raw.destroyed ? null : ask({})
}

/** Without room for an answer nothing has happened: the request continues to wait until its own limit. */
async function untilRoom<Value>(
  wait: Duration,
  signal: AbortSignal,
  ask: (options: Waiting) => Promise<Value>,
): Promise<Value> {
  const endsAt = performance.now() + msOf(wait)
  for (let left = wait; ; left = `${Math.max(1, Math.ceil(endsAt - performance.now()))}ms`) {
    try {
      return await ask({ wait: left, signal })
    } catch (error) {
      const hadNoRoom = error instanceof DriverError && error.code === 'overloaded'
      if (!hadNoRoom || performance.now() >= endsAt) throw error
    }
    await sleep(REST_MS, undefined, { signal })
  }
}

/** The terms of the request. */
interface Wish {
  readonly leases: Pick<Leases, 'acquireDetached' | 'byToken'>
  readonly wait: Duration | undefined
}

/** Answers with the lease and its URL: the path with its token added, and a query. */
export async function sendLease(
  reply: FastifyReply,
  parts: Pick<RouteParts, 'waits'>,
  wish: Wish,
  { path, query = '' }: { path: string; query?: string },
): Promise<FastifyReply> {
  const granted = await leaseTo(reply, parts, wish)
  if (granted === null) return reply.code(204).send()
  const { token, leaseMs, expiresAtMs } = granted
  return reply.code(201).header('Location', `${path}/${token}${query}`).send({ token, leaseMs, expiresAtMs })
}

/** The lease, or null if its client has left. Throws Denial if it is not free in time. */
export async function leaseTo(
  reply: FastifyReply,
  { waits }: Pick<RouteParts, 'waits'>,
  { leases, wait }: Wish,
): Promise<Granted | null> {
  const leased = await askWaiting(reply, { waits, wait }, (options) => leases.acquireDetached(options))
  if (leased === null) return null
  if (leased.status !== 'granted') {
    throw new Denial(leased.status, 'Others hold it, and `wait` is over.', {
      retryAfterMs: leased.retryAfterMs,
    })
  }
  if (!reply.raw.destroyed) return leased
  await leases.byToken.release(leased.token)
  return null
}

function closing(): Problem {
  const headers = { 'Retry-After': '1' }
  return new Problem(503, 'Service unavailable', 'The service is shutting down.', headers)
}
