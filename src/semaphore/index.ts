// The exports of `perilune/semaphore`.

import * as operations from '../generated/semaphore.ts'
import { type HasRuntime, runtimeOf } from '../runtime/connection/access.ts'
import { scriptsOf, type StructureScripts } from '../runtime/connection/connection.ts'
import { Semaphore, type SemaphoreOptions } from './semaphore.ts'

export * from './names.ts'

/** For `preload` of a connection. */
export const semaphoreScripts: StructureScripts = /* @__PURE__ */ scriptsOf('semaphore', operations)

/** Permits with leases: the weights of all granted permits never exceed the limit. Throws InvalidArgumentError. */
export function semaphore(connection: HasRuntime, name: string, options: SemaphoreOptions): Semaphore {
  return new Semaphore(runtimeOf(connection), name, options)
}
