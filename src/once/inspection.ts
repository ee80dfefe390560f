import { clear, get, inspect } from '../generated/once.ts'
import { decodeResult, type OnceSource, unitOf } from './source.ts'

/** A result that is kept. */
export interface Found<Result> {
  readonly result: Result
  /** Of the attempt that it comes from. */
  readonly token: number
  /** When it is forgotten, in milliseconds of the server's clock. */
  readonly keptUntilMs: number
}

/** A picture of a key; for people, for it may be old when it arrives. */
export interface OnceInspection {
  /** `lapsed`: the lease of the attempt is over, and nobody has taken over yet. */
  readonly state: 'free' | 'running' | 'lapsed' | 'finished'
  /** Of the newest attempt; null when none is known. */
  readonly token: number | null
  /** Of the request; null without one. */
  readonly fingerprint: string | null
  /** When the lease ends or ended; null when the key is free. */
  readonly expiresAtMs: number | null
  /** When the key is forgotten, if nothing more happens; null when it is free. */
  readonly keptUntilMs: number | null
  /** Of the result. */
  readonly bytes: number
  readonly codec: string | null
}

export async function findResult<Result>(
  source: OnceSource<Result>,
  key: string,
): Promise<Found<Result> | null> {
  const answer = await unitOf(source, key).run(get, { codec: source.codec.name })
  if (answer.status === 'absent') return null
  const { token, keptUntilMs } = answer
  return { result: decodeResult(source, key, answer.result), token, keptUntilMs }
}

export async function inspectKey<Result>(source: OnceSource<Result>, key: string): Promise<OnceInspection> {
  const answer = await unitOf(source, key).run(inspect, {})
  const { state, bytes } = answer
  const token = answer.token === 0 ? null : answer.token
  if (state === 'free') {
    return { state, token, fingerprint: null, expiresAtMs: null, keptUntilMs: null, bytes, codec: null }
  }
  return {
    state: state as OnceInspection['state'],
    token,
    fingerprint: answer.fingerprint === '' ? null : answer.fingerprint,
    expiresAtMs: answer.expiresAtMs,
    keptUntilMs: answer.keptUntilMs,
    bytes,
    codec: answer.codec,
  }
}

/** False when there was nothing. An attempt of this process is lost at once. */
export async function clearKey<Result>(source: OnceSource<Result>, key: string): Promise<boolean> {
  const unit = unitOf(source, key)
  const clearIt = () => unit.run(clear, { channel: unit.channel, sharded: unit.sharded })
  const { existed } = await source.runtime.keeper.clearing(unit.beginning, clearIt)
  return existed
}
