import { InvalidArgumentError } from './errors.ts'

/** What whoever says another number of partitions is told; `known`: 0 for what is not spread. */
export function otherNumber(known: number): InvalidArgumentError {
  const wanted = known === 0 ? 'must be left out: there are none' : `must be ${known}: there are so many`
  return new InvalidArgumentError('partitions', `${wanted} until it is cleared`)
}
