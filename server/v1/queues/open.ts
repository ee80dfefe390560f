// Which queue a request means, and what is common to its routes.

import type { FastifyRequest } from 'fastify'
import { jsonText, type Perilune, type Queue, type Settled } from 'perilune'
import { nameOf } from '../place.ts'
import { Refusal } from '../problem-documents.ts'

export type Open = (request: FastifyRequest) => Queue

export function openQueues(perilune: Perilune): Open {
  return (request) => {
    const { name } = request.params as { name: string }
    return perilune.queue(nameOf(request, name), { codec: jsonText })
  }
}

/** What became of a job that was not lost. Throws Refusal for one that was. */
export function heldOutcome<Done extends string>([settled]: readonly Settled<Done>[], token: number): Done {
  if (settled !== undefined && !('reason' in settled)) return settled.outcome
  throw new Refusal('lease-lost', `The lease ${token} has ended, or never was.`, settled?.reason)
}

export function noJob(id: string): Refusal {
  return new Refusal('not-found', `There is no job ${id}.`)
}
