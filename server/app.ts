// The routes joined; no logic.

import type { Perilune } from 'perilune'
import type { OpenCounters } from './counters/open-counters.ts'
import { type App, createFastify, type LogTarget } from './fastify.ts'
import type { Readiness } from './readiness.ts'
import { healthRoutes } from './routes/health.ts'
import { v1 } from './routes/v1.ts'
import { zaqarV2 } from './routes/zaqar-v2.ts'
import { Unsent } from './unsent.ts'
import { type FeedLimits, feedLimits } from './v1/limits.ts'
import type { ZaqarSettings } from './zaqar/settings.ts'

export interface AppParts {
  readonly perilune: Perilune
  readonly readiness: Readiness
  /** Of /v1; by default there are none. */
  readonly counters?: readonly OpenCounters[]
  /** Of /v2. */
  readonly zaqar: ZaqarSettings
  /** Of /v1; what is left out is as usual. */
  readonly feedLimits?: Partial<FeedLimits>
  /** pino's; `silent` for no log at all. */
  readonly logLevel: string
  readonly logTarget?: LogTarget | undefined
  /** When a request that has not come in whole is given up. */
  readonly requestTimeoutMs?: number
  /** The one that `perilune` was opened with. */
  readonly unsent?: Unsent
}

export function buildApp({ perilune, readiness, zaqar, feedLimits: own, ...rest }: AppParts): App {
  const { counters = [] } = rest
  const { logLevel, logTarget, requestTimeoutMs, unsent = new Unsent() } = rest
  const app = createFastify(logLevel, { requestTimeoutMs, unsent, logTarget })
  app.register(async (health) => healthRoutes(health, readiness))
  const limits = { ...feedLimits, ...own }
  app.register((native: App) => v1(native, { perilune, counters, limits }), { prefix: '/v1' })
  zaqarV2(app, { perilune, readiness, settings: zaqar })
  return app
}
