// What is carried out by several calls, for one could not carry it. Where one of them fails for certain, the whole may not be
// said not to have happened: others did.

import { AmbiguousError } from '../errors/errors.ts'
import { didNotHappen } from '../errors/outage.ts'

/** `error` of a part, of something of which so many were carried out by the parts before it. */
export function errorOfPart(what: string, done: number, total: number, error: unknown): unknown {
  if (done === 0 || !didNotHappen(error)) return error
  return new AmbiguousError(`${done} of ${total} ${what}`, { cause: error }, 'in-part')
}

/** What to throw of parts that have all ended, side by side: that one may have happened says more than that another did not. */
export function failureOf(
  parts: readonly PromiseSettledResult<unknown>[],
): PromiseRejectedResult | undefined {
  const failed = parts.filter((part) => part.status === 'rejected')
  return failed.find(({ reason }) => !didNotHappen(reason)) ?? failed[0]
}
