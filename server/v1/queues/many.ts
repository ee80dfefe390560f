// What becomes of many claimed jobs: one outcome each, for one that was lost fails no other.

import { Type } from '@fastify/type-provider-typebox'
import type { JobLease, Settled } from 'perilune'
import type { App } from '../../http/fastify.ts'
import { answers, BODY } from '../api/answers.ts'
import { lease as lasting, NamePath, strict } from '../api/strictness.ts'
import type { Parts } from '../api/lending.ts'
import { AckedJob, ackJobs, toldOf } from './acks.ts'
import { allExtended, settled } from './answers.ts'
import { delay, held, kind, message, QueueQuery, releaseDelay } from './arguments.ts'
import type { Open } from './open.ts'

const url = '/queues/:name'
const common = { tags: ['queues'], params: NamePath, querystring: QueueQuery }

const several = { minItems: 1, maxItems: 500 }
const Acks = Type.Object({ jobs: Type.Array(AckedJob, several) }, strict)
const Retries = Type.Object(
  { jobs: Type.Array(Type.Object({ ...held, delay, kind, message }, strict), several) },
  strict,
)
const Burials = Type.Object(
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

export function settleMany(app: App, parts: Parts, open: Open): void {
  ackAndExtend(app, parts, open)
  giveUp(app, parts, open)
}

function ackAndExtend(app: App, { limits }: Parts, open: Open): void {
  const bodyLimit = limits.maxAppendBytes

  const done = { ...common, summary: 'Ack many', body: Acks, response: answers(settled('acked'), ...BODY) }
  app.post(`${url}/ack`, { schema: done, bodyLimit }, async (request) => {
    return { jobs: await ackJobs(open(request), request.body.jobs, request.jsonText, 'jobs') }
  })

  const longer = {
    ...common,
    summary: 'Extend many',
    body: Extensions,
    response: answers(allExtended, ...BODY),
  }
  app.post(`${url}/extend`, { schema: longer, bodyLimit }, async (request) => {
    const { jobs: given, lease } = request.body
    const { jobs, ...until } = await open(request).settle.extend(given, lease)
    return { ...until, ...told(given, jobs) }
  })
}

function giveUp(app: App, { limits }: Parts, open: Open): void {
  const bodyLimit = limits.maxAppendBytes

  const given = {
    ...common,
    summary: 'Release many',
    body: Releases,
    response: answers(settled('released'), ...BODY),
  }
  app.post(`${url}/release`, { schema: given, bodyLimit }, async (request) => {
    const { jobs } = request.body
    return told(jobs, await open(request).settle.release(jobs))
  })

  const again = {
    ...common,
    summary: 'Retry many',
    body: Retries,
    response: answers(settled('retried', 'buried'), ...BODY),
  }
  app.post(`${url}/retry`, { schema: again, bodyLimit }, async (request) => {
    const { jobs } = request.body
    return told(jobs, await open(request).settle.retry(jobs))
  })

  const never = {
    ...common,
    summary: 'Bury many',
    body: Burials,
    response: answers(settled('buried'), ...BODY),
  }
  app.post(`${url}/bury`, { schema: never, bodyLimit }, async (request) => {
    const { jobs } = request.body
    return told(jobs, await open(request).settle.bury(jobs))
  })
}

function told(given: readonly JobLease[], outcomes: readonly Settled<string>[]): { jobs: object[] } {
  return { jobs: toldOf(given, outcomes) }
}
