// The exports of `perilune/cache`.

import * as operations from '../generated/cache.ts'
import { type HasRuntime, runtimeOf } from '../runtime/connection/access.ts'
import { scriptsOf, type StructureScripts } from '../runtime/connection/connection.ts'
import { Cache } from './cache.ts'
import type { CacheOptions } from './options.ts'

export * from './cache.ts'

/** For `preload` of a connection. */
export const cacheScripts: StructureScripts = /* @__PURE__ */ scriptsOf('cache', operations)

/** A cache for values that are expensive to make; one process loads on behalf of all. Throws InvalidArgumentError. */
export function cache<Value = unknown>(
  connection: HasRuntime,
  name: string,
  options: CacheOptions<Value> = {},
): Cache<Value> {
  return new Cache(runtimeOf(connection), name, options)
}
