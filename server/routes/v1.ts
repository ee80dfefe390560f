// The native API: what all its routes share.

import type { Perilune } from 'perilune'
import type { OpenCounters } from '../counters/open-counters.ts'
import type { App } from '../fastify.ts'
import { takeJsonOnly } from '../v1/json-body.ts'
import type { FeedLimits } from '../v1/limits.ts'
import { describeRoutes, serveDescription } from '../v1/openapi.ts'
import { takeJsonPostsOnly } from '../v1/post-types.ts'
import { compileSchema } from '../v1/validation.ts'
import { Waits } from '../v1/waits.ts'
import { refuseOtherMethods } from './other-methods.ts'
import { v1Collections } from './v1-collections.ts'
import { v1Autocomplete } from './v1-autocomplete.ts'
import { v1CacheLoads } from './v1-cache-loads.ts'
import { v1Caches } from './v1-caches.ts'
import { v1Counters } from './v1-counters.ts'
import { v1Elections } from './v1-elections.ts'
import { v1Feeds } from './v1-feeds.ts'
import { v1Locks } from './v1-locks.ts'
import { v1Once } from './v1-once.ts'
import { v1Queues } from './v1-queues.ts'
import { v1RateLimits } from './v1-rate-limits.ts'
import { v1Semaphores } from './v1-semaphores.ts'

export interface Native {
  readonly perilune: Perilune
  readonly counters: readonly OpenCounters[]
  readonly limits: FeedLimits
}

export async function v1(app: App, { perilune, counters, limits }: Native): Promise<void> {
  const waits = new Waits(limits.maxWaitMs)
  app.addHook('preClose', async () => waits.close())
  takeJsonOnly(app)
  takeJsonPostsOnly(app)
  app.setValidatorCompiler(compileSchema)
  app.setSerializerCompiler(() => (answer) => JSON.stringify(answer))
  await describeRoutes(app)
  refuseOtherMethods(app)
  serveDescription(app)
  v1Feeds(app, perilune, waits, limits)
  const parts = { perilune, waits, limits }
  v1Queues(app, parts)
  v1Locks(app, parts)
  v1Elections(app, parts)
  v1Semaphores(app, parts)
  v1RateLimits(app, parts)
  v1Once(app, parts)
  v1Collections(app, parts)
  v1Autocomplete(app, parts)
  v1Caches(app, parts)
  v1CacheLoads(app, parts)
  v1Counters(app, parts, counters)
}
