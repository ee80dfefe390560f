// The one way in which a callback of the user is called that is only told of something, such as an error: what it does
// must not change what its caller does next.

import { InvalidArgumentError } from './errors.ts'

/**
 * The callback as it may be called anywhere: it never throws. What the callback throws becomes an uncaught exception, as
 * what an async one rejects with becomes an unhandled rejection: a mistake of the user must come to light. Undefined is no callback.
 * Throws InvalidArgumentError, which names `argument`, when it is no function: the first call would end the process.
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
