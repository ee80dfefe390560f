// Queues, and each as a whole.

import type { App } from '../../http/fastify.ts'
import { answers } from '../api/answers.ts'
import { NamePath } from '../api/strictness.ts'
import type { Parts } from '../api/lending.ts'
import { Refusal } from '../../http/answers/problem-documents.ts'
import { cleared, inspection } from './answers.ts'
import { QueueQuery } from './arguments.ts'
import { KnownQueues } from './known-queues.ts'
import { type Open, openQueues } from './open.ts'
import { isThere, shown } from './pictures.ts'
import { advanceJobs } from './advance.ts'
import { queueClaims } from './claims.ts'
import { enqueueJobs } from './enqueue.ts'
import { queueEventStream } from './events.ts'
import { failedJobs } from './failures.ts'
import { queueJobs } from './jobs.ts'
import { settleMany } from './many.ts'
import { listQueues } from './list.ts'
import { queueNotes } from './notes.ts'
import { jobParents } from './parents.ts'
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

export function v1Queues(app: App, parts: Parts): void {
  const open = openQueues(parts.perilune)
  const known = new KnownQueues(parts.perilune)
  knowQueues(app, known)
  listQueues(app, parts, known)
  enqueueJobs(app, parts, open, known)
  queueClaims(app, parts, open)
  settleMany(app, parts, open)
  advanceJobs(app, parts, open, known)
  queueJobs(app, parts, open)
  jobParents(app, parts, open)
  queueNotes(app, parts, open)
  queueTags(app, parts, open)
  queueEventStream(app, parts, open)
  failedJobs(app, open)
  recurringJobs(app, parts, open)
  queueSettings(app, parts, open)
  queueStats(app, open)
  wholeQueues(app, open, known)
}

/** Before each request for a queue it is clear that its name means this one. */
function knowQueues(app: App, known: KnownQueues): void {
  app.addHook('preHandler', async (request) => {
    const { url = '', config } = request.routeOptions
    if (!url.startsWith(`${app.prefix}/queues/:name`)) return
    await (config.beginsQueue === true ? known.begin(request) : known.check(request))
  })
  app.addHook('onSend', async (request, reply) => {
    // What nobody knows the outcome of may begin it yet. The list of queues passes over what is not there.
    if (reply.statusCode < 500) await known.takeBack(request).catch(() => undefined)
  })
}

function wholeQueues(app: App, open: Open, known: KnownQueues): void {
  const url = '/queues/:name'
  const common = { tags: ['queues'], params: NamePath, querystring: QueueQuery }

  const seen = { ...common, summary: 'Inspect', response: answers(inspection, 404) }
  app.get(url, { schema: seen }, async (request) => {
    const { name } = request.params
    const picture = await open(request).inspect()
    if (!isThere(picture)) throw new Refusal('not-found', `There is no queue ${name}.`)
    return { name, ...shown(picture) }
  })

  const gone = { ...common, summary: 'Clear', response: answers(cleared) }
  app.delete(url, { schema: gone }, async (request, reply) => {
    await known.remove(request)
    await open(request).clear()
    return reply.code(204).send()
  })
}
