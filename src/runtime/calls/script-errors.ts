// What an error reply of the server means for a call, and for whoever wants to listen.

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

/** What a script is told that began while the cluster was down: `CLUSTERDOWN` in other words (`cluster-allow-reads-when-down`). */
const DOWN_IN_SCRIPT = /^ERR Script attempted to execute a (?:write )?command while the cluster is down/

const NOT_IN_SCRIPT = "ERR The user executing the script can't"

const SUBSCRIBE = { script: { name: 'subscribe' } } as const

export function isPassing(error: ServerReplyError): boolean {
  return PASSING.has(error.word) || DOWN_IN_SCRIPT.test(error.message)
}

/** What a call ends with that met nothing but such a reply until its deadline. */
export function toDeadlineError(error: ServerReplyError, operation: AnyOperation): PeriluneError {
  const known = toPeriluneError(error, operation)
  if (known instanceof DriverError && known.code === 'store-read-only') return known
  const problem = `${operation.script.name}: the server could not take the call: ${error.message}`
  return new DriverError('busy', problem, { cause: error })
}

/** What is told of a reply after which nothing is tried again. */
export function toLastError(error: ServerReplyError, operation: AnyOperation): PeriluneError {
  return isPassing(error) ? toDeadlineError(error, operation) : toPeriluneError(error, operation)
}

/** What kept a process from listening to a channel. */
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
      // What a user may not do inside of a script: Redis 7.0 has no word for that.
      if (error.message.startsWith(NOT_IN_SCRIPT))
        return new DriverError('forbidden', `${name}: ${error.message}`, options)
      return new DriverError('script-failed', `${name}: ${inSource(error.message, operation)}`, options)
  }
}

/** What is spread over partitions has the number of them in the layout of the name alone. */
function unknownLayout(error: ServerReplyError, name: string): PeriluneError {
  const spread = /^in (\d+) partitions$/.exec(detail(error))?.[1]
  if (spread !== undefined) return otherNumber(Number(spread))
  const problem = `${name}: the data has ${error.message.toLowerCase()}, which this version does not know; upgrade it`
  return new DriverError('unknown-layout', problem, { cause: error })
}

/** By their places, what a script could not read of what it was called for, and why. */
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
