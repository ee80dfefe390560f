// The exports of `perilune/counters`.

import * as operations from '../generated/counters.ts'
import { type HasRuntime, runtimeOf } from '../runtime/connection/access.ts'
import { scriptsOf, type StructureScripts } from '../runtime/connection/connection.ts'
import type { Counters, CountersOptions } from './counters.ts'
import type {
  RowCounters,
  RowCountersOptions,
  OutboxCounters,
  OutboxCountersOptions,
} from './database-counters.ts'
import { type AnyCounters, type AnyCountersOptions, openCounters } from './open.ts'

export * from './names.ts'

/** For the option `preload` of a connection. */
export const countersScripts: StructureScripts = /* @__PURE__ */ scriptsOf('counters', operations)

/**
 * Counters that Redis counts and an SQL database stores: each increment reaches the database exactly once. Throws
 * InvalidArgumentError.
 */
export function counters(connection: HasRuntime, name: string, options: CountersOptions): Counters
/** Counters that count your rows in an SQL database, and that Redis shows. Throws InvalidArgumentError. */
export function counters(connection: HasRuntime, name: string, options: RowCountersOptions): RowCounters
/** Counters that change in transactions of an SQL database, and that Redis shows. Throws InvalidArgumentError. */
export function counters<Client>(
  connection: HasRuntime,
  name: string,
  options: OutboxCountersOptions<Client>,
): OutboxCounters<Client>
export function counters(connection: HasRuntime, name: string, options: AnyCountersOptions): AnyCounters {
  return openCounters(runtimeOf(connection), name, options)
}
