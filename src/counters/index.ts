// The exports of `perilune/counters`.

import * as operations from '../generated/counters.ts'
import { type HasRuntime, runtimeOf } from '../runtime/connection/access.ts'
import { scriptsOf, type StructureScripts } from '../runtime/connection/connection.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { Counters, type CountersOptions } from './counters.ts'
import { RowCounters, type RowCountersOptions } from './database-counters.ts'
import { OutboxCounters, type OutboxCountersOptions } from './outbox-counters.ts'

export * from './names.ts'

/** For the option `preload` of a connection. */
export const countersScripts: StructureScripts = /* @__PURE__ */ scriptsOf('counters', operations)

const PLACES = ['sink', 'events', 'outbox']

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
export function counters(
  connection: HasRuntime,
  name: string,
  options: CountersOptions | RowCountersOptions | OutboxCountersOptions<never>,
): Counters | RowCounters | OutboxCounters<never> {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidArgumentError('options', 'must be an object')
  }
  if (PLACES.filter((place) => place in options).length > 1) {
    throw new InvalidArgumentError('options', `must have only one of ${PLACES.join(', ')}`)
  }
  const runtime = runtimeOf(connection)
  if ('events' in options) return new RowCounters(runtime, name, options)
  if ('outbox' in options) return new OutboxCounters(runtime, name, options)
  return new Counters(runtime, name, options)
}
