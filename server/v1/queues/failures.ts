// What jobs are dead of.

import { Type } from '@fastify/type-provider-typebox'
import type { App } from '../../http/fastify.ts'
import { answers } from '../api/answers.ts'
import { name } from '../api/arguments.ts'
import { NamePath } from '../api/strictness.ts'
import { counted, failures } from './answers.ts'
import { QueueQuery } from './arguments.ts'
import type { Open } from './open.ts'

const tags = ['queues']
const url = '/queues/:name/failures'
const KindPath = Type.Object({
  name,
  kind: Type.String({ minLength: 1, description: 'A kind of failure.' }),
})
const ofKind = { tags, params: KindPath, querystring: QueueQuery, response: answers(counted) }

export function failedJobs(app: App, open: Open): void {
  const seen = {
    tags,
    summary: 'Failures',
    params: NamePath,
    querystring: QueueQuery,
    response: answers(failures),
  }
  app.get(url, { schema: seen }, async (request) => ({ failures: await open(request).jobs.failures() }))

  const again = { ...ofKind, summary: 'Requeue all of a failure' }
  app.post(`${url}/:kind/requeue`, { schema: again }, async (request) => {
    return { count: await open(request).jobs.requeueFailed(request.params.kind) }
  })

  const gone = { ...ofKind, summary: 'Drop all of a failure' }
  app.delete(`${url}/:kind`, { schema: gone }, async (request) => {
    return { count: await open(request).jobs.dropFailed(request.params.kind) }
  })
}
