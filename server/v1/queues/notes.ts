// What is told of jobs: their history, their progress, their logs, and how they ended.

import { Type } from '@fastify/type-provider-typebox'
import { InvalidArgumentError } from 'perilune'
import type { App } from '../../http/fastify.ts'
import { answers, BODY } from '../api/answers.ts'
import { strict } from '../api/strictness.ts'
import { askWaiting, type Parts } from '../api/lending.ts'
import { end, history, noted, notedByAttempt } from './answers.ts'
import { AttemptPath, JobPath, QueueQuery, QueueWaitQuery } from './arguments.ts'
import { encodeEnd } from './encode.ts'
import { heldOutcome, noJob, type Open } from './open.ts'

const Line = Type.Object({ line: Type.String({ description: 'Cut at 1,024 bytes.' }) }, strict)
const one = { tags: ['queues'], params: JobPath, querystring: QueueQuery }
const attempt = { tags: ['queues'], params: AttemptPath, querystring: QueueQuery }
const url = '/queues/:name/jobs/:id'

export function queueNotes(app: App, parts: Parts, open: Open): void {
  readHistory(app, open)
  addLines(app, parts, open)
  takeProgress(app, parts, open)
  waitForResults(app, parts, open)
}

function readHistory(app: App, open: Open): void {
  const schema = { ...one, summary: 'Read its history', response: answers(history, 404) }
  app.get(`${url}/history`, { schema }, async (request) => {
    const { id } = request.params
    const told = await open(request).jobs.history(id)
    if (told === null) throw noJob(id)
    return { id, ...told }
  })
}

function addLines(app: App, { limits }: Parts, open: Open): void {
  const bodyLimit = limits.maxOtherBytes
  const anybody = { ...one, summary: 'Add to its log', body: Line, response: answers(noted, 404, ...BODY) }
  app.post(`${url}/log`, { schema: anybody, bodyLimit }, async (request, reply) => {
    const { id } = request.params
    if (!(await open(request).jobs.log(id, request.body.line))) throw noJob(id)
    return reply.code(204).send()
  })

  const worker = {
    ...attempt,
    summary: 'Add to its log as its worker',
    body: Line,
    response: answers(notedByAttempt, ...BODY),
  }
  app.post(`${url}/claims/:token/log`, { schema: worker, bodyLimit }, async (request, reply) => {
    const lease = { id: request.params.id, token: Number(request.params.token) }
    heldOutcome([await open(request).settle.log(lease, request.body.line)], lease.token)
    return reply.code(204).send()
  })
}

function takeProgress(app: App, { limits }: Parts, open: Open): void {
  const schema = {
    ...attempt,
    summary: 'Tell its progress',
    description: 'Any JSON, to the letter.',
    body: Type.Unknown(),
    response: answers(notedByAttempt, ...BODY),
  }
  const options = { schema, bodyLimit: limits.maxOtherBytes }
  app.put(`${url}/claims/:token/progress`, options, async (request, reply) => {
    const lease = { id: request.params.id, token: Number(request.params.token) }
    if (request.jsonText === '') throw new InvalidArgumentError('body', 'is missing')
    heldOutcome([await open(request).settle.progress(lease, request.jsonText)], lease.token)
    return reply.code(204).send()
  })
}

function waitForResults(app: App, { waits }: Parts, open: Open): void {
  const schema = {
    ...one,
    querystring: QueueWaitQuery,
    summary: 'Wait for its result',
    response: answers(end, 404),
  }
  app.get(`${url}/result`, { schema }, async (request, reply) => {
    const { id } = request.params
    const queue = open(request)
    const { wait } = request.query
    const told = await askWaiting(reply, { waits, wait }, (waiting) => queue.jobs.waitForResult(id, waiting))
    if (told === null) return reply.code(204).send()
    if (told.state === 'absent') throw noJob(id)
    return reply.type('application/json').send(encodeEnd(id, told))
  })
}
