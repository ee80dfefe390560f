import { types } from 'node:util'

/**
 * Whether a value is an Error of any realm. In the sandbox of a test runner, errors of Node and of the outer program
 * have other classes.
 */
export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error || types.isNativeError(value) || isAbort(value)
  } catch {
    // A proxy may throw on any access.
    return false
  }
}

/** The reason of an aborted signal is a DOMException, which is no native error. */
function isAbort(value: unknown): boolean {
  const isObject = typeof value === 'object' && value !== null
  return isObject && Object.prototype.toString.call(value) === '[object DOMException]'
}
