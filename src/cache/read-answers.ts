// What answers a plain read, and what it is where none does.

import { ConnectionLostError, type Reply, ServerReplyError } from '../driver.ts'
import { DriverError } from '../runtime/errors/errors.ts'
import { isPassing, toPeriluneError } from '../runtime/calls/script-errors.ts'

const READ = { script: { name: 'cache read' } } as const

/** Of a GET the value, of an MGET those of its keys; null when the reply is that of neither. */
export function valuesOf(keys: number, reply: Reply): (Buffer | null)[] | null {
  const values = keys === 1 ? [reply] : reply
  const isWhole = Array.isArray(values) && values.length === keys
  return isWhole && values.every(isBytes) ? values : null
}

function isBytes(reply: Reply): reply is Buffer | null {
  return reply === null || Buffer.isBuffer(reply)
}

export function isWorthAnother(error: unknown): boolean {
  return error instanceof ConnectionLostError || (error instanceof ServerReplyError && isPassing(error))
}

export function toError(error: unknown): unknown {
  if (isWorthAnother(error)) return late(error)
  return error instanceof ServerReplyError ? toPeriluneError(error, READ) : error
}

export function overloaded(): DriverError {
  return new DriverError(
    'overloaded',
    'cache read: the deadline was over before there was room for its answer',
  )
}

/** No server answered. */
export function late(cause?: unknown): DriverError {
  return new DriverError('unreachable', 'cache read: no server answered in time', { cause })
}
