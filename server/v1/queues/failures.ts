// What jobs are dead of.

import { Type } from '@fastify/type-provider-typebox'
import { counted, failures } from './answers.ts'
import type { QueueRoutes } from './arguments.ts'
import type { QueueOf } from './open.ts'

const url = '/queues/:name/failures'
const kind = Type.String({ minLength: 1, description: 'A kind of failure.' })

export function failedJobs(usual: QueueRoutes, open: QueueOf): void {
  const routes = usual.with({ path: { kind } })
  routes.get(url, 'Failures', { answers: failures }, async (request) => ({
    failures: await open(request).jobs.failures(),
  }))

  routes.post(`${url}/:kind/requeue`, 'Requeue all of a failure', { answers: counted }, async (request) => {
    return { count: await open(request).jobs.requeueFailed(request.params.kind) }
  })

  routes.delete(`${url}/:kind`, 'Drop all of a failure', { answers: counted }, async (request) => {
    return { count: await open(request).jobs.dropFailed(request.params.kind) }
  })
}
