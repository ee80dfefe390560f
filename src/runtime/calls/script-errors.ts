// What an error reply of the server means for a call, and for a subscription.

import { ConnectionLostError, ServerReplyError } from '../../driver.ts'
import { DriverError, InvalidArgumentError, type PeriluneError } from '../errors/errors.ts'
import type { Operation } from './operation.ts'
import { otherNumber } from '../errors/other-number.ts'

interface AnyOperation extends Pick<Operation<never, unknown>, 'lines'> {
  readonly script: Pick<Operation<never, unknown>['script'], 'name' | 'lines'>
}

// The call did not happen, and may succeed in a moment.
const PASSING = new Set([
  'TRYAGAIN',
  'LOADING',
  'CLUSTERDOWN',
  'MASTERDOWN',
  'READONLY',
  'NOREPLICAS',
  'MOVED',
  'ASK',
  'BUSY',
  'UNBLOCKED',
])

/**
 * The error of a script that began while the cluster was down: CLUSTERDOWN in other words
 * (`cluster-allow-reads-when-down`).
 */
const DOWN_IN_SCRIPT = /^ERR Script attempted to execute a (?:write )?command while the cluster is down/

/** A command, key or channel that the user may not use inside a script has no error code: here Redis 7.0, and newer servers. */
const NOT_IN_SCRIPT = /^ERR (The user executing|ACL failure)/

const SUBSCRIBE = { script: { name: 'subscribe' } } as const

export function isPassing(error: ServerReplyError): boolean {
  return PASSING.has(error.word) || DOWN_IN_SCRIPT.test(error.message)
}

/** The error of a call that got only such replies until its deadline. */
export function toDeadlineError(error: ServerReplyError, operation: AnyOperation): PeriluneError {
  const known = toPeriluneError(error, operation)
  if (known instanceof DriverError && known.code === 'store-read-only') return known
  const problem = `${operation.script.name}: the server could not take the call: ${error.message}`
  return new DriverError('busy', problem, { cause: error })
}

/** The error of a call that is not retried after this reply. */
export function toLastError(error: ServerReplyError, operation: AnyOperation): PeriluneError {
  return isPassing(error) ? toDeadlineError(error, operation) : toPeriluneError(error, operation)
}

/** The error for a failed subscription. */
export function toListenError(error: unknown): unknown {
  if (error instanceof ServerReplyError) return toLastError(error, SUBSCRIBE)
  if (!(error instanceof ConnectionLostError)) return error
  return new DriverError('unreachable', `subscribe: ${error.message}`, { cause: error })
}

export function toPeriluneError(error: ServerReplyError, operation: AnyOperation): PeriluneError {
  const options = { cause: error }
  const name = operation.script.name
  switch (error.word) {
    case 'OOM':
      return new DriverError('store-full', `${name}: the server is out of memory`, options)
    case 'READONLY':
      return new DriverError(
        'store-read-only',
        `${name}: the server is a read-only replica: ${error.message}`,
        options,
      )
    case 'NOREPLICAS':
    case 'MISCONF':
      return new DriverError(
        'store-read-only',
        `${name}: the server refuses writes: ${error.message}`,
        options,
      )
    case 'NOPERM':
    case 'NOAUTH':
    case 'WRONGPASS':
      return new DriverError('forbidden', `${name}: ${error.message}`, options)
    case 'PARTITIONS':
      return otherNumber(Number(detail(error)))
    case 'LAYOUT':
      return unknownLayout(error, name)
    case 'CODEC':
      return new InvalidArgumentError('codec', `must be the one the data was written with: ${detail(error)}`)
    case 'INVALID': {
      const [argument = 'argument', problem = 'is invalid'] = detail(error).split(': ')
      return new InvalidArgumentError(argument, problem)
    }
    default:
      if (NOT_IN_SCRIPT.test(error.message))
        return new DriverError('forbidden', `${name}: ${error.message}`, options)
      return new DriverError('script-failed', `${name}: ${inSource(error.message, operation)}`, options)
  }
}

/** The layout of partitioned data contains the partition count, only in the unit of the name itself. */
function unknownLayout(error: ServerReplyError, name: string): PeriluneError {
  const spread = /^in (\d+) partitions$/.exec(detail(error))?.[1]
  if (spread !== undefined) return otherNumber(Number(spread))
  const problem = `${name}: the data has ${error.message.toLowerCase()}, which this version does not know; upgrade it`
  return new DriverError('unknown-layout', problem, { cause: error })
}

/** By index: why a script could not read an item of its arguments. */
export function toRefusals(
  refused: readonly { readonly at: number; readonly why: string }[],
  operation: AnyOperation,
): ReadonlyMap<number, PeriluneError> {
  return new Map(refused.map(({ at, why }) => [at, toPeriluneError(new ServerReplyError(why), operation)]))
}

function detail(error: ServerReplyError): string {
  return error.message.slice(error.word.length + 1)
}

/** Replaces the line of the built script by file and line of its source. */
function inSource(message: string, operation: AnyOperation): string {
  return message.replace(/@?user_script:\s?(\d+)/g, (text, built: string) => {
    const line = Number(built)
    const lines = operation.script.lines ?? operation.lines
    const run = lines?.findLast(([first]) => first <= line)
    return run === undefined ? text : `${run[1]}:${run[2] + line - run[0]}`
  })
}
