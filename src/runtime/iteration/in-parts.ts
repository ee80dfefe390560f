// Work that is split into several calls, because one call could not carry it. When one of them certainly fails, the
// whole must not be reported as "did not happen": other parts did.

import { AmbiguousError } from '../errors/errors.ts'
import { didNotHappen } from '../errors/outage.ts'

/** `error` of a part, adjusted when the parts before it have carried out `done` of `total`. */
export function errorOfPart(what: string, done: number, total: number, error: unknown): unknown {
  if (done === 0 || !didNotHappen(error)) return error
  return new AmbiguousError(`${done} of ${total} ${what}`, { cause: error }, 'in-part')
}

/**
 * The error to throw for concurrent parts that have all ended: "may have happened" takes precedence over "did not
 * happen".
 */
export function failureOf(
  parts: readonly PromiseSettledResult<unknown>[],
): PromiseRejectedResult | undefined {
  const failed = parts.filter((part) => part.status === 'rejected')
  return failed.find(({ reason }) => !didNotHappen(reason)) ?? failed[0]
}
