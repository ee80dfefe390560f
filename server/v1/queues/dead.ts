// The failures of dead jobs.

import { Type } from '@fastify/type-provider-typebox'
import { counted, deadKinds } from './answers.ts'
import type { QueueRoutes } from './arguments.ts'
import type { QueueOf } from './open.ts'

const url = '/queues/:name/dead'
const kind = Type.String({ minLength: 1, description: 'A kind of failure.' })

export function deadJobs(usual: QueueRoutes, open: QueueOf): void {
  const routes = usual.with({ path: { kind } })
  routes.get(url, 'List the kinds of failures', { answers: deadKinds }, async (request) => ({
    kinds: await open(request).dead.list(),
  }))

  routes.post(`${url}/:kind/requeue`, 'Requeue all of a failure', { answers: counted }, async (request) => {
    return { count: await open(request).dead.requeue(request.params.kind) }
  })

  routes.delete(`${url}/:kind`, 'Drop all of a failure', { answers: counted }, async (request) => {
    return { count: await open(request).dead.drop(request.params.kind) }
  })
}
