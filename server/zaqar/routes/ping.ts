import type { App } from '../../http/fastify.ts'
import { forbidden, unavailable } from '../../http/answers/problems.ts'
import type { Readiness } from '../../health/readiness.ts'

export function zaqarPing(app: App, readiness: Readiness): void {
  app.get('/ping', async (_request, reply) => {
    if (!(await readiness.answers())) throw unavailable('Redis does not answer within a second.')
    return reply.code(204).send()
  })

  // Only for operators, who use /readyz for this service.
  app.get('/health', async () => {
    throw forbidden('The health of the service is for its operator.')
  })
}
