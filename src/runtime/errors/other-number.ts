import { InvalidArgumentError } from './errors.ts'

/** The error for another partition count than the stored one; `known` is 0 when the data is not partitioned. */
export function otherNumber(known: number): InvalidArgumentError {
  const wanted =
    known === 0 ? 'must be left out, as the stored data has none,' : `must be ${known}, as stored,`
  return new InvalidArgumentError('partitions', `${wanted} until it is cleared`)
}
