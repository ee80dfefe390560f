// The routes joined; no logic.

import type { Perilune } from 'perilune'
import { type App, createFastify } from './fastify.ts'
import type { Limits } from './limits.ts'
import { Queues } from './queues/queues.ts'
import type { Readiness } from './readiness.ts'
import { healthRoutes } from './routes/health.ts'
import { refuseOtherMethods } from './routes/other-methods.ts'
import { v1Feeds } from './routes/v1-feeds.ts'
import { zaqarClaims } from './routes/zaqar-claims.ts'
import { zaqarMessages } from './routes/zaqar-messages.ts'
import { zaqarPing } from './routes/zaqar-ping.ts'
import { zaqarQueues } from './routes/zaqar-queues.ts'
import { type FeedLimits, feedLimits } from './v1/limits.ts'
import { readTenant } from './zaqar/headers.ts'

export interface AppParts {
  readonly perilune: Perilune
  readonly readiness: Readiness
  readonly limits: Limits
  /** Of /v1; what is left out is as usual. */
  readonly feedLimits?: Partial<FeedLimits>
  /** pino's; `silent` for no log at all. */
  readonly logLevel: string
  /** When a request that has not come in whole is given up. */
  readonly requestTimeoutMs?: number
}

export function buildApp({ perilune, readiness, limits, feedLimits: own, ...rest }: AppParts): App {
  const app = createFastify(rest.logLevel, rest.requestTimeoutMs)
  const queues = new Queues(perilune, limits, (err) =>
    app.log.error({ err }, 'dead letters stay where they are'),
  )
  app.addHook('onClose', () => queues.settle())
  app.register(async (health) => healthRoutes(health, readiness))
  app.register((v1: App) => v1Feeds(v1, perilune, { ...feedLimits, ...own }), { prefix: '/v1' })
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
