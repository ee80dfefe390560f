// Beginning an attempt: one script call, safe to repeat by the attempt's id.

import { randomUUID } from 'node:crypto'
import { type BeginAnswer, begin } from '../generated/once.ts'
import { ResultNotKeptError } from '../runtime/errors.ts'
import { askingAt, toGrant } from '../runtime/grant.ts'
import { checkName } from '../runtime/keys.ts'
import { closed } from '../runtime/runner.ts'
import { Attempt } from './attempt.ts'
import { lost } from './ending.ts'
import { checkFingerprint } from './fingerprint.ts'
import { decodeResult, resourceOf, type Source, unitOf } from './source.ts'

export interface BeginOptions {
  /** Of the request: the same key with another one is a conflict. Default: none. At most 512 bytes. */
  fingerprint?: string
  /** Names the attempt: a `begin` that is repeated with it gets the same one. Default: made by the library. */
  id?: string
}

/** What became of a `begin`. */
export type Begun<Result> =
  /** The key is yours: do the work, then complete. */
  | { readonly status: 'started'; readonly attempt: Attempt<Result> }
  /** The work was done before. */
  | { readonly status: 'replayed'; readonly result: Result; readonly token: number }
  /** The key came with another fingerprint before. */
  | { readonly status: 'conflict' }
  /** Another attempt is under way: its lease ends after `retryAfterMs`, unless it is extended. */
  | { readonly status: 'running'; readonly retryAfterMs: number }

/** An attempt as the script takes it. */
export interface BeginTerms {
  readonly key: string
  readonly id: string
  readonly fingerprint: string
}

/** Checks the options. Throws InvalidArgumentError. */
export function toBeginTerms(key: string, { fingerprint, id }: BeginOptions): BeginTerms {
  return {
    key: checkName('key', key),
    id: id === undefined ? randomUUID() : checkName('id', id),
    fingerprint: checkFingerprint(fingerprint),
  }
}

/**
 * Begins an attempt of this process. Throws LeaseLostError when the attempt of that id has been released, ResultNotKeptError
 * when the work was done and its result could not be kept, or cannot be read.
 */
export async function beginAttempt<Result>(
  source: Source<Result>,
  terms: BeginTerms,
): Promise<Begun<Result>> {
  const askedAt = askingAt()
  const answer = await askToBegin(source, terms)
  if (answer.status !== 'started') return answer
  const attempt = new Attempt(source, terms.key, toGrant(answer, askedAt))
  // It came while the instance closes, and is given back already.
  if (source.runtime.runner.closed) throw closed()
  return { status: 'started', attempt }
}

type Answered<Result> =
  | Extract<BeginAnswer, { status: 'started' }>
  | Exclude<Begun<Result>, { status: 'started' }>

/** What the script says, whoever the attempt is for. Throws LeaseLostError and ResultNotKeptError as `beginAttempt`. */
export async function askToBegin<Result>(
  source: Source<Result>,
  { key, id, fingerprint }: BeginTerms,
): Promise<Answered<Result>> {
  const { codec, leaseMs, keepResultMs } = source
  const args = { codec: codec.name, id, fingerprint, leaseMs, keepResultMs }
  const answer = await unitOf(source, key).run(begin, args, { atClose: 'goes on' })
  if (answer.status === 'lost') throw lost(source, key, answer.token)
  if (answer.status === 'unkept') throw new ResultNotKeptError(resourceOf(source, key))
  if (answer.status !== 'replayed') return answer
  return { status: 'replayed', result: decodeResult(source, key, answer.result), token: answer.token }
}
