// What is carried out by several calls, for one could not carry it. Where one of them fails for certain, the whole may not be
// said not to have happened: others did.

import { AmbiguousError } from './errors.ts'
import { didNotHappen } from './outage.ts'

/** `error` of a part, of something of which so many were carried out by other parts. */
export function errorOfPart(what: string, done: number, total: number, error: unknown): unknown {
  if (done === 0 || !didNotHappen(error)) return error
  return new AmbiguousError(`${done} of ${total} ${what}`, { cause: error }, 'in-part')
}

/** What all parts resolve to, one behind the other. Throws once all are settled, so that nothing happens after it. */
export async function inParts<Result>(
  what: string,
  total: number,
  parts: readonly Promise<Result[]>[],
): Promise<Result[]> {
  const settled = await Promise.allSettled(parts)
  const results = settled.flatMap((part) => (part.status === 'fulfilled' ? part.value : []))
  const errors = settled.flatMap((part): unknown[] => (part.status === 'rejected' ? [part.reason] : []))
  if (errors.length === 0) return results
  const error = errors.find((each) => !didNotHappen(each)) ?? errors[0]
  throw errorOfPart(what, results.length, total, error)
}
