// What jobs are dead of.

import { Type } from '@fastify/type-provider-typebox'
import type { Routes } from '../api/routes.ts'
import { NamePath, name } from '../api/arguments.ts'
import { counted, failures } from './answers.ts'
import { QueueQuery } from './arguments.ts'
import type { Open } from './open.ts'

const url = '/queues/:name/failures'
const KindPath = Type.Object({
  name,
  kind: Type.String({ minLength: 1, description: 'A kind of failure.' }),
})
const ofKind = { params: KindPath, query: QueueQuery, answers: counted }

export function failedJobs(routes: Routes, open: Open): void {
  routes.get(
    url,
    { summary: 'Failures', params: NamePath, query: QueueQuery, answers: failures },
    async (request) => ({ failures: await open(request).jobs.failures() }),
  )

  routes.post(`${url}/:kind/requeue`, { ...ofKind, summary: 'Requeue all of a failure' }, async (request) => {
    return { count: await open(request).jobs.requeueFailed(request.params.kind) }
  })

  routes.delete(`${url}/:kind`, { ...ofKind, summary: 'Drop all of a failure' }, async (request) => {
    return { count: await open(request).jobs.dropFailed(request.params.kind) }
  })
}
