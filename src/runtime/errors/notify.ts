// The one way to call a user's notification callback, such as `onError`. The callback's behavior must not change what
// its caller does next.

import { InvalidArgumentError } from './errors.ts'

/**
 * Wraps the callback so that calling it never throws. An exception of the callback becomes an uncaught exception, a
 * rejection of an async callback becomes an unhandled rejection: a mistake of the user must be visible. Without a
 * callback the wrapper does nothing. Throws InvalidArgumentError, which names `argument`, when the callback is no
 * function; else the first call would end the process.
 */
export function notifying<Args extends unknown[]>(
  argument: string,
  callback: ((...args: Args) => unknown) | undefined,
): (...args: Args) => void {
  if (callback === undefined) return () => {}
  if (typeof callback !== 'function') throw new InvalidArgumentError(argument, 'must be a function')
  return (...args) => {
    try {
      callback(...args)
    } catch (thrown) {
      queueMicrotask(() => {
        throw thrown
      })
    }
  }
}
