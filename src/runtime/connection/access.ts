// How structures, and what is written outside of the library, reach the runtime of a connection.

import { InvalidArgumentError } from '../errors/errors.ts'
import type { Runtime } from './runtime.ts'

/** What `connect()` returns, and `perilune()`, as far as a structure needs to know it. */
export interface HasRuntime {
  healthy(): boolean
  close(): Promise<void>
  /** @internal */
  readonly runtime: Runtime
}

/** Throws InvalidArgumentError for what is no connection, such as a client of Redis or a driver. */
export function runtimeOf(connection: HasRuntime): Runtime {
  const runtime: unknown = (connection as HasRuntime | null | undefined)?.runtime
  if (typeof runtime === 'object' && runtime !== null) return runtime as Runtime
  throw new InvalidArgumentError('connection', 'must be what connect() or perilune() returned')
}
