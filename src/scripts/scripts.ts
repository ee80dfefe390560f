// The runtime of modules written by `perilune generate`. Programs call those modules; nothing here is meant to be
// called directly.

import type { Script } from '../driver.ts'
import { type HasRuntime, runtimeOf } from '../runtime/connection/access.ts'
import type { CallId } from '../runtime/calls/call-ids.ts'
import { checkName } from '../runtime/values/keys.ts'
import { Unit } from '../runtime/connection/unit.ts'
import { completed, type ScriptOperation } from './arguments.ts'

export interface UnitPlace {
  /** The folder of its operations: `guild-names`. */
  readonly structure: string
  /** The name of the unit: any text of 1 to 512 bytes without control characters. */
  readonly name: string
  /** The oldest server version with all commands of the structure. */
  readonly since: string
}

/** One unit of a structure: it knows its keys, which share a slot, and runs its operations. */
export interface ScriptUnit {
  /**
   * Runs an operation whose effect is the same when it runs twice; repeats it when its answer was lost. Rejects with
   * InvalidArgumentError, DriverError or AmbiguousError.
   */
  run<Arguments extends object, Answer>(
    operation: ScriptOperation<Arguments, Answer>,
    args: Arguments,
  ): Promise<Answer>
  /** Like `run`, for an operation that must take effect once: its script remembers the ids of calls. */
  runOnce<Arguments extends object, Answer>(
    operation: ScriptOperation<Arguments & CallId, Answer>,
    args: Arguments,
  ): Promise<Answer>
}

/** The unit of a structure in the namespace of `redis`. Opens nothing. Throws InvalidArgumentError. */
export function openUnit(redis: HasRuntime, { structure, name, since }: UnitPlace): ScriptUnit {
  const unit = new Unit(runtimeOf(redis), { structure, name: checkName('name', name), since })
  return {
    async run(operation, args) {
      return unit.run(operation, completed(operation, args) as Required<typeof args>)
    },
    async runOnce(operation, args) {
      const all = completed(operation, args) as Required<typeof args>
      return unit.runOnce(operation, (id) => ({ ...all, ...id }) as Required<typeof args & CallId>)
    },
  }
}

/** Loads scripts on every primary, so that no first call pays for loading. Throws DriverError. */
export function preloadScripts(
  redis: HasRuntime,
  operations: readonly { readonly script: Script }[],
): Promise<void> {
  return runtimeOf(redis).preload(operations.map(({ script }) => script))
}

export type { Argument, Reply, Script } from '../driver.ts'
export type { HasRuntime } from '../runtime/connection/access.ts'
export type { CallId } from '../runtime/calls/call-ids.ts'
export { withoutDefaults } from '../runtime/calls/operation.ts'
export {
  bigint as asBigint,
  bytes as asBytes,
  flag as asFlag,
  integer as asInteger,
  list as asList,
  number as asNumber,
  text as asText,
  unexpected,
} from '../runtime/values/reply.ts'
export type { ArgumentType, ArgumentTypes, FieldType, ScriptOperation } from './arguments.ts'
