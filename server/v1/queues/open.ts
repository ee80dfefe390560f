// The queue of a request, and the common parts of its routes.

import type { FastifyRequest } from 'fastify'
import type { LossReason, PartitionedQueue, Perilune, Queue, Settled } from 'perilune'
import { BoundedMap } from '../../process/bounded-map.ts'
import { storedJson } from '../../json/stored.ts'
import { namedIn } from '../api/routes.ts'
import { RefusedRequest } from '../../http/answers/problem-documents.ts'

interface Lost {
  readonly outcome: 'lost'
  readonly reason: LossReason
}

/** Both have the same methods. */
export type AnyQueue = Queue | PartitionedQueue
export type QueueOf = (request: FastifyRequest) => AnyQueue

const MOST_KEPT = 1000

/** A queue that is opened again is the same object: it has learnt which way of claiming is fast for it. */
export function openQueues(perilune: Perilune): QueueOf {
  const kept = new BoundedMap<AnyQueue>(MOST_KEPT)
  return (request) => {
    const name = namedIn(request)
    const { partitions } = request.query as { partitions?: number }
    const key = `${partitions ?? ''} ${name}`
    const queue = kept.get(key) ?? openQueue(perilune, name, partitions ?? null)
    kept.set(key, queue)
    return queue
  }
}

/** `partitions`: null if the queue has none. */
export function openQueue(perilune: Perilune, name: string, partitions: number | null): AnyQueue {
  if (partitions === null) return perilune.queue(name, { codec: storedJson })
  return perilune.queue(name, { codec: storedJson, partitions })
}

/** The outcome of a job that was not lost. Throws Refusal for a lost one. */
export function heldOutcome<Done extends string>(settled: readonly Settled<Done>[], token: number): Done {
  return notLost<{ readonly outcome: Done }>(settled, token).outcome
}

/** The result of the only job. Throws Refusal if it was lost. */
export function notLost<Result extends object>([only]: readonly (Result | Lost)[], token: number): Result {
  if (only !== undefined && !isLost(only)) return only
  throw new RefusedRequest('lease-lost', `The lease ${token} has ended, or never existed.`, only?.reason)
}

function isLost(settled: object): settled is Lost {
  return 'reason' in settled
}

export function noJob(id: string): RefusedRequest {
  return new RefusedRequest('not-found', `There is no job ${id}.`)
}
