import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { Counters, type CountersOptions } from './counters.ts'
import {
  RowCounters,
  type RowCountersOptions,
  OutboxCounters,
  type OutboxCountersOptions,
} from './database-counters.ts'

export type AnyCountersOptions = CountersOptions | RowCountersOptions | OutboxCountersOptions<never>
export type AnyCounters = Counters | RowCounters | OutboxCounters<never>

const PLACES = ['sink', 'events', 'outbox']

/** Throws InvalidArgumentError. */
export function openCounters(runtime: Runtime, name: string, options: AnyCountersOptions): AnyCounters {
  if (typeof options !== 'object' || options === null) {
    throw new InvalidArgumentError('options', 'must be an object')
  }
  if (PLACES.filter((place) => place in options).length > 1) {
    throw new InvalidArgumentError('options', `must have only one of ${PLACES.join(', ')}`)
  }
  if ('events' in options) return new RowCounters(runtime, name, options)
  if ('outbox' in options) return new OutboxCounters(runtime, name, options)
  return new Counters(runtime, name, options)
}
