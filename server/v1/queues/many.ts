// Settles many claimed jobs: one outcome each, because a lost job must not fail the others.

import { Type } from '@fastify/type-provider-typebox'
import type { JobLease, Settled } from 'perilune'
import { lease as lasting, strict } from '../api/arguments.ts'
import { AckedJob, ackJobs, outcomesToJson } from './acks.ts'
import { allExtended, settled } from './answers.ts'
import { delay, held, kind, message, releaseDelay, type QueueRoutes } from './arguments.ts'
import type { QueueOf } from './open.ts'

const url = '/queues/:name'

const several = { minItems: 1, maxItems: 500 }
const Acks = Type.Object({ jobs: Type.Array(AckedJob, several) }, strict)
const Retries = Type.Object(
  { jobs: Type.Array(Type.Object({ ...held, delay, kind, message }, strict), several) },
  strict,
)
const Failures = Type.Object(
  { jobs: Type.Array(Type.Object({ ...held, kind, message }, strict), several) },
  strict,
)
const Releases = Type.Object(
  { jobs: Type.Array(Type.Object({ ...held, delay: releaseDelay }, strict), several) },
  strict,
)
const Extensions = Type.Object(
  { jobs: Type.Array(Type.Object(held, strict), several), lease: lasting },
  strict,
)

export function settleMany(routes: QueueRoutes, open: QueueOf): void {
  ackAndExtend(routes, open)
  giveUp(routes, open)
}

function ackAndExtend(routes: QueueRoutes, open: QueueOf): void {
  routes.post(
    `${url}/ack`,
    'Ack many',
    { body: Acks, answers: settled('acked'), large: true, documents: ['result'] },
    async (request) => {
      return { jobs: await ackJobs(open(request), request.body.jobs, request.jsonText, 'jobs') }
    },
  )

  routes.post(
    `${url}/extend`,
    'Extend many',
    { body: Extensions, answers: allExtended, large: true },
    async (request) => {
      const { jobs: given, lease } = request.body
      const { jobs, ...until } = await open(request).byToken.extend(given, lease)
      return { ...until, ...outcomesOf(given, jobs) }
    },
  )
}

function giveUp(routes: QueueRoutes, open: QueueOf): void {
  routes.post(
    `${url}/release`,
    'Release many',
    { body: Releases, answers: settled('released'), large: true },
    async (request) => {
      const { jobs } = request.body
      return outcomesOf(jobs, await open(request).byToken.release(jobs))
    },
  )

  routes.post(
    `${url}/retry`,
    'Retry many',
    { body: Retries, answers: settled('retried', 'dead'), large: true },
    async (request) => {
      const { jobs } = request.body
      return outcomesOf(jobs, await open(request).byToken.retry(jobs))
    },
  )

  routes.post(
    `${url}/fail`,
    'Fail many',
    { body: Failures, answers: settled('dead'), large: true },
    async (request) => {
      const { jobs } = request.body
      return outcomesOf(jobs, await open(request).byToken.fail(jobs))
    },
  )
}

function outcomesOf(given: readonly JobLease[], outcomes: readonly Settled<string>[]): { jobs: object[] } {
  return { jobs: outcomesToJson(given, outcomes) }
}
