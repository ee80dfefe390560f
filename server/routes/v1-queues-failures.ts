// What jobs are dead of.

import { Type } from '@fastify/type-provider-typebox'
import type { App } from '../fastify.ts'
import { answers } from '../v1/answers.ts'
import { name } from '../v1/arguments.ts'
import { NamePath } from '../v1/coordination/arguments.ts'
import { counted, failures } from '../v1/queues/answers.ts'
import { QueueQuery } from '../v1/queues/arguments.ts'
import type { Open } from '../v1/queues/open.ts'

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
