// How structures, and modules outside of the library, reach the runtime of a connection.

import { InvalidArgumentError } from '../errors/errors.ts'
import type { Runtime } from './runtime.ts'

/** The part of the result of `connect()` or `perilune()` that a structure needs. */
export interface HasRuntime {
  healthy(): boolean
  close(): Promise<void>
  /** @internal */
  readonly runtime: Runtime
}

/** Throws InvalidArgumentError for a value that is no connection, such as a Redis client or a driver. */
export function runtimeOf(connection: HasRuntime): Runtime {
  const runtime: unknown = (connection as HasRuntime | null | undefined)?.runtime
  if (typeof runtime === 'object' && runtime !== null) return runtime as Runtime
  throw new InvalidArgumentError('connection', 'must be what connect() or perilune() returned')
}
