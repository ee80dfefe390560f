// The exports of `perilune/lock`.

import * as operations from '../generated/lock.ts'
import { type HasRuntime, runtimeOf } from '../runtime/connection/access.ts'
import { scriptsOf, type StructureScripts } from '../runtime/connection/connection.ts'
import { Election, type ElectionOptions } from './election.ts'
import { Fenced, type FencedOptions } from './fenced.ts'
import { Lock, type LockOptions } from './lock.ts'
import { LockSet } from './lock-set.ts'

export * from './names.ts'

/** For `preload` of a connection. */
export const lockScripts: StructureScripts = /* @__PURE__ */ scriptsOf('lock', operations)

/** A lock with a lease: at most one holder at a time. Throws InvalidArgumentError. */
export function lock(connection: HasRuntime, name: string, options: LockOptions = {}): Lock {
  return new Lock(runtimeOf(connection), name, options)
}

/** Several locks, acquired all or none. Throws InvalidArgumentError. */
export function locks(connection: HasRuntime, names: readonly string[], options: LockOptions = {}): LockSet {
  return new LockSet(runtimeOf(connection), names, options)
}

/** Elects one leader among all processes that campaign under a name. Throws InvalidArgumentError. */
export function election(connection: HasRuntime, name: string, options: ElectionOptions = {}): Election {
  return new Election(runtimeOf(connection), name, options)
}

/** A value that only the newest holder of a lock can write. Throws InvalidArgumentError. */
export function fenced<Value = unknown>(
  connection: HasRuntime,
  name: string,
  options: FencedOptions<Value> = {},
): Fenced<Value> {
  return new Fenced(runtimeOf(connection), name, options)
}
