import { types } from 'node:util'

/**
 * Whether something is an Error, of whatever realm: in the sandbox of a test runner the errors of Node itself, and those of the
 * program outside, are of other classes.
 */
export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error || types.isNativeError(value) || isAbort(value)
  } catch {
    // A proxy may throw whatever it is asked.
    return false
  }
}

/** What an aborted signal throws is no native error. */
function isAbort(value: unknown): boolean {
  const isObject = typeof value === 'object' && value !== null
  return isObject && Object.prototype.toString.call(value) === '[object DOMException]'
}
