// Notes on jobs: their history, their progress, their logs, and how they ended.

import { Type } from '@fastify/type-provider-typebox'
import { InvalidArgumentError } from 'perilune'
import { strict } from '../api/arguments.ts'
import { askWaiting } from '../api/leases.ts'
import { end, history, noted, notedByAttempt } from './answers.ts'
import { QueueWaitQuery, type QueueRoutes } from './arguments.ts'
import { encodeEnd } from './encode.ts'
import { heldOutcome, noJob, type QueueOf } from './open.ts'

const Line = Type.Object({ line: Type.String({ description: 'Truncated at 1,024 bytes.' }) }, strict)
const url = '/queues/:name/jobs/:id'

export function queueNotes(routes: QueueRoutes, open: QueueOf): void {
  readHistory(routes, open)
  addLines(routes, open)
  takeProgress(routes, open)
  waitForResults(routes, open)
}

function readHistory(routes: QueueRoutes, open: QueueOf): void {
  routes.get(`${url}/history`, 'Read its history', { answers: history, or: [404] }, async (request) => {
    const { id } = request.params
    const found = await open(request).jobs.history(id)
    if (found === null) throw noJob(id)
    return { id, ...found }
  })
}

function addLines(routes: QueueRoutes, open: QueueOf): void {
  routes.post(`${url}/log`, 'Add to its log', { body: Line, answers: noted, or: [404] }, async (request) => {
    const { id } = request.params
    if (!(await open(request).jobs.log(id, request.body.line))) throw noJob(id)
  })

  routes.post(
    `${url}/claims/:token/log`,
    'Add to its log as its worker',
    { body: Line, answers: notedByAttempt },
    async (request) => {
      const lease = { id: request.params.id, token: Number(request.params.token) }
      heldOutcome([await open(request).byToken.log(lease, request.body.line)], lease.token)
    },
  )
}

function takeProgress(routes: QueueRoutes, open: QueueOf): void {
  routes.put(
    `${url}/claims/:token/progress`,
    'Set its progress',
    { description: 'Any JSON, unchanged.', body: Type.Unknown(), answers: notedByAttempt },
    async (request) => {
      const lease = { id: request.params.id, token: Number(request.params.token) }
      if (request.jsonText === '') throw new InvalidArgumentError('body', 'is missing')
      heldOutcome([await open(request).byToken.progress(lease, request.jsonText)], lease.token)
    },
  )
}

function waitForResults(routes: QueueRoutes, open: QueueOf): void {
  routes.get(
    `${url}/result`,
    'Wait for its result',
    { query: QueueWaitQuery, answers: end, or: [404] },
    async (request, reply) => {
      const { id } = request.params
      const queue = open(request)
      const { wait } = request.query
      const found = await askWaiting(reply, { waits: routes.waits, wait }, (waiting) =>
        queue.jobs.waitForResult(id, waiting),
      )
      if (found === null) return reply.code(204).send()
      if (found.state === 'absent') throw noJob(id)
      return reply.type('application/json').send(encodeEnd(id, found))
    },
  )
}
