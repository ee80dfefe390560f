// Queues: the routes for all of them, and for one as a whole.

import type { App } from '../../http/fastify.ts'
import type { Routes } from '../api/routes.ts'
import { RefusedRequest } from '../../http/answers/problem-documents.ts'
import { cleared, inspection } from './answers.ts'
import { path, QueueQuery, type QueueRoutes } from './arguments.ts'
import { KnownQueues } from './known-queues.ts'
import { type QueueOf, openQueues } from './open.ts'
import { isThere, shown } from './pictures.ts'
import { ackAndEnqueueJobs } from './ack-and-enqueue.ts'
import { queueClaims } from './claims.ts'
import { enqueueJobs } from './enqueue.ts'
import { queueEventStream } from './events.ts'
import { deadJobs } from './dead.ts'
import { queueJobs } from './jobs.ts'
import { settleMany } from './many.ts'
import { listQueues } from './list.ts'
import { queueNotes } from './notes.ts'
import { jobDependencies } from './dependencies.ts'
import { recurringJobs } from './recurring.ts'
import { queueSettings } from './settings.ts'
import { queueStats } from './stats.ts'
import { queueTags } from './tags.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a request may begin the queue that it names. */
    beginsQueue?: boolean
  }
}

export function v1Queues(app: App, usual: Routes): void {
  const routes = usual.with({ path, query: QueueQuery })
  const open = openQueues(routes.perilune)
  const known = new KnownQueues(routes.perilune)
  knowQueues(app, known)
  listQueues(routes, known)
  enqueueJobs(routes, open, known)
  queueClaims(routes, open)
  settleMany(routes, open)
  ackAndEnqueueJobs(routes, open, known)
  queueJobs(routes, open)
  jobDependencies(routes, open)
  queueNotes(routes, open)
  queueTags(routes, open)
  queueEventStream(routes, open)
  deadJobs(routes, open)
  recurringJobs(routes, open)
  queueSettings(routes, open)
  queueStats(routes, open)
  wholeQueues(routes, open, known)
}

/** Checks before each request for a queue that its name means this one. */
function knowQueues(app: App, known: KnownQueues): void {
  app.addHook('preHandler', async (request) => {
    const { url = '', config } = request.routeOptions
    if (!url.startsWith(`${app.prefix}/queues/:name`)) return
    await (config.beginsQueue === true ? known.begin(request) : known.check(request))
  })
  app.addHook('onClose', () => known.close())
  app.addHook('onSend', async (request, reply) => {
    // After an unknown outcome the queue may still begin. The list of queues skips those that do not exist.
    if (reply.statusCode < 500) await known.takeBack(request).catch(() => undefined)
    known.confirmLater(request)
  })
}

function wholeQueues(routes: QueueRoutes, open: QueueOf, known: KnownQueues): void {
  const url = '/queues/:name'

  routes.get(url, 'Inspect', { answers: inspection, or: [404] }, async (request) => {
    const { name } = request.params
    const picture = await open(request).inspect()
    if (!isThere(picture)) throw new RefusedRequest('not-found', `There is no queue ${name}.`)
    return { name, ...shown(picture) }
  })

  routes.delete(url, 'Clear', { answers: cleared }, async (request) => {
    await open(request).clear()
    // Last: a queue that is not cleared stays in the list. One that began meanwhile is added again, see known-queues.
    await known.remove(request)
  })
}
