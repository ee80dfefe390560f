// Ends an attempt with or without a result, by key and token, so that another process can do it.

import { complete, release } from '../generated/once.ts'
import { LeaseLostError } from '../runtime/errors/errors.ts'
import { notKnown } from '../runtime/leases/lease-by-token.ts'
import type { Trace } from '../runtime/calls/runner.ts'
import { resourceOf, type OnceSource, unitOf } from './source.ts'

export interface Completed {
  /** When the stored result expires, in milliseconds of the server's clock. */
  readonly keptUntilMs: number
}

/**
 * Stores an encoded result; null: the work was done, but its result cannot be stored. Throws LeaseLostError when the
 * attempt was taken over or released. Throws AmbiguousError when that may have happened after a first call whose
 * answer was lost.
 */
export async function completeAttempt<Result>(
  source: OnceSource<Result>,
  key: string,
  token: number,
  result: string | Uint8Array | null,
): Promise<Completed> {
  const unit = unitOf(source, key)
  const { channel, sharded } = unit
  const { codec, resultTtlMs } = source
  const common = { codec: codec.name, token, resultTtlMs, channel, sharded }
  const args = { ...common, result: result ?? '', kept: result !== null }
  const trace: Trace = { atClose: 'gives back' }
  const answer = await unit.run(complete, args, trace)
  if (answer.status === 'lost') throw notKnown(resourceOf(source, key), token, trace)
  return { keptUntilMs: answer.keptUntilMs }
}

/**
 * Frees the key, unless the attempt was completed. Throws LeaseLostError when it was taken over. Throws
 * AmbiguousError when that may have happened after a first call whose answer was lost.
 */
export async function releaseAttempt<Result>(
  source: OnceSource<Result>,
  key: string,
  token: number,
): Promise<void> {
  const trace: Trace = {}
  if (!(await tryToRelease(source, key, token, trace))) throw notKnown(resourceOf(source, key), token, trace)
}

/** Like `releaseAttempt`; resolves to false when the attempt was taken over. */
export async function tryToRelease<Result>(
  source: OnceSource<Result>,
  key: string,
  token: number,
  trace: Trace = {},
): Promise<boolean> {
  const unit = unitOf(source, key)
  const args = { token, channel: unit.channel, sharded: unit.sharded }
  trace.atClose = 'gives back'
  const { status } = await unit.run(release, args, trace)
  return status !== 'lost'
}

export function lost<Result>(source: OnceSource<Result>, key: string, token: number): LeaseLostError {
  return new LeaseLostError(resourceOf(source, key), token)
}
