// Joins the routes; has no logic of its own.

import type { Perilune } from 'perilune'
import type { OpenCounters } from './counters/open-counters.ts'
import { type App, createFastify, type LogTarget } from './http/fastify.ts'
import type { Readiness } from './health/readiness.ts'
import { healthRoutes } from './health/routes.ts'
import { v1 } from './v1/v1.ts'
import { zaqarV2 } from './zaqar/v2.ts'
import { Unsent } from './http/answers/unsent.ts'
import { type FeedLimits, feedLimits } from './v1/api/limits.ts'
import type { ZaqarSettings } from './zaqar/settings/settings.ts'

export interface AppParts {
  readonly perilune: Perilune
  readonly readiness: Readiness
  /** Counters of /v1; default: none. */
  readonly counters?: readonly OpenCounters[]
  /** Settings of /v2. */
  readonly zaqar: ZaqarSettings
  /** Limits of feeds in /v1; those left out have their defaults. */
  readonly feedLimits?: Partial<FeedLimits>
  /** A level of pino; `silent` for no log. */
  readonly logLevel: string
  readonly logTarget?: LogTarget | undefined
  /** After how many milliseconds an incomplete request is ended. */
  readonly requestTimeoutMs?: number
  /** The instance with which `perilune` was opened. */
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
