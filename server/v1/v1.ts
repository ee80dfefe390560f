// The native API: the common parts of all its routes.

import type { Perilune } from 'perilune'
import type { OpenCounters } from '../counters/open-counters.ts'
import type { App } from '../http/fastify.ts'
import { leaseToken, name, NoQuery } from './api/arguments.ts'
import { takeJsonOnly } from './api/json-body.ts'
import type { FeedLimits } from './api/limits.ts'
import { describeRoutes, serveDescription } from './api/openapi.ts'
import { Routes } from './api/routes.ts'
import { takeJsonPostsOnly } from './api/post-types.ts'
import { compileSchema } from './api/validation.ts'
import { Waits } from './api/waits.ts'
import { refuseOtherMethods } from '../http/other-methods.ts'
import { v1Collections } from './collections/collections.ts'
import { v1Autocomplete } from './autocomplete/autocomplete.ts'
import { v1CacheLoads } from './caches/loads.ts'
import { v1Caches } from './caches/caches.ts'
import { v1Counters } from './counters/counters.ts'
import { v1Elections } from './coordination/elections.ts'
import { v1Feeds } from './feeds/feeds.ts'
import { v1Locks } from './coordination/locks.ts'
import { v1Once } from './coordination/once.ts'
import { v1Queues } from './queues/queues.ts'
import { v1RateLimits } from './coordination/rate-limits.ts'
import { v1Semaphores } from './coordination/semaphores.ts'

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
  const path = { name, token: leaseToken }
  const routes = (tag: string): Routes =>
    new Routes(app, { perilune, waits, limits }, { tag, path, query: NoQuery })
  v1Feeds(routes('feeds'))
  v1Queues(app, routes('queues'))
  v1Locks(routes('locks'))
  v1Elections(routes('elections'))
  v1Semaphores(routes('semaphores'))
  v1RateLimits(routes('rate limits'))
  v1Once(routes('once'))
  v1Collections(routes('collections'))
  v1Autocomplete(routes('autocomplete'))
  v1Caches(routes('caches'))
  v1CacheLoads(routes('caches'))
  v1Counters(routes('counters'), counters)
}
