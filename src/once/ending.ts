// How an attempt ends: with a result, or without one. By key and token, so that another process may do it.

import { complete, release } from '../generated/once.ts'
import { LeaseLostError } from '../runtime/errors.ts'
import { resourceOf, type Source, unitOf } from './source.ts'

export interface Completed {
  /** When the result is forgotten, in milliseconds of the server's clock. */
  readonly keptUntilMs: number
}

/** Stores an encoded result. Throws LeaseLostError when the attempt was taken over or released. */
export async function completeAttempt<Result>(
  source: Source<Result>,
  key: string,
  token: number,
  result: string | Uint8Array,
): Promise<Completed> {
  const unit = unitOf(source, key)
  const { channel, sharded } = unit
  const { codec, keepResultMs } = source
  const args = { codec: codec.name, token, keepResultMs, channel, sharded, result }
  const answer = await unit.run(complete, args, { atClose: 'gives back' })
  if (answer.status === 'lost') throw lost(source, key, token)
  return { keptUntilMs: answer.keptUntilMs }
}

/** Frees the key, unless the attempt was completed. Throws LeaseLostError when it was taken over. */
export async function releaseAttempt<Result>(
  source: Source<Result>,
  key: string,
  token: number,
): Promise<void> {
  const unit = unitOf(source, key)
  const { channel, sharded } = unit
  const answer = await unit.run(release, { token, channel, sharded }, { atClose: 'gives back' })
  if (answer.status === 'lost') throw lost(source, key, token)
}

export function lost<Result>(source: Source<Result>, key: string, token: number): LeaseLostError {
  return new LeaseLostError(resourceOf(source, key), token)
}
