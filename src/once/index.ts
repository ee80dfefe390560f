// The exports of `perilune/once`.

import * as operations from '../generated/once.ts'
import { type HasRuntime, runtimeOf } from '../runtime/connection/access.ts'
import { scriptsOf, type StructureScripts } from '../runtime/connection/connection.ts'
import { Once, type OnceOptions } from './once.ts'

export * from './once.ts'

/** For `preload` of a connection. */
export const onceScripts: StructureScripts = /* @__PURE__ */ scriptsOf('once', operations)

/** Idempotency keys: the work of a key is done once, and every caller gets its result. Throws InvalidArgumentError. */
export function once<Result = unknown>(
  connection: HasRuntime,
  name: string,
  options: OnceOptions<Result> = {},
): Once<Result> {
  return new Once(runtimeOf(connection), name, options)
}
