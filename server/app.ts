// The routes joined; no logic.

import type { Perilune } from 'perilune'
import { type App, createFastify } from './fastify.ts'
import type { Limits } from './limits.ts'
import { Queues } from './queues/queues.ts'
import type { Readiness } from './readiness.ts'
import { healthRoutes } from './routes/health.ts'
import { refuseOtherMethods } from './routes/other-methods.ts'
import { zaqarClaims } from './routes/zaqar-claims.ts'
import { zaqarMessages } from './routes/zaqar-messages.ts'
import { zaqarPing } from './routes/zaqar-ping.ts'
import { zaqarQueues } from './routes/zaqar-queues.ts'
import { readTenant } from './zaqar/headers.ts'

export interface AppParts {
  readonly perilune: Perilune
  readonly readiness: Readiness
  readonly limits: Limits
  /** pino's; `silent` for no log at all. */
  readonly logLevel: string
}

export function buildApp({ perilune, readiness, limits, logLevel }: AppParts): App {
  const app = createFastify(logLevel)
  const queues = new Queues(perilune, limits, (err) =>
    app.log.error({ err }, 'dead letters stay where they are'),
  )
  app.addHook('onClose', () => queues.settle())
  app.register(async (health) => healthRoutes(health, readiness))
  app.register(
    async (v2: App) => {
      refuseOtherMethods(v2)
      v2.decorateRequest('tenant')
      v2.addHook('onRequest', async (request) => {
        request.tenant = readTenant(request.headers, limits)
      })
      zaqarPing(v2, readiness)
      zaqarQueues(v2, queues, limits)
      zaqarMessages(v2, queues, limits)
      zaqarClaims(v2, queues, limits)
    },
    { prefix: '/v2' },
  )
  return app
}
