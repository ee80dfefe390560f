import type { Trace } from '../runtime/calls/runner.ts'
import { clear, get, inspect } from '../generated/once.ts'
import { decodeResult, type OnceSource, unitOf } from './source.ts'

/** A stored result. */
export interface Found<Result> {
  /** The decoded result. */
  readonly result: Result
  /** The token of the attempt that stored it. */
  readonly token: number
  /** When the result expires, in milliseconds of the server's clock. */
  readonly keptUntilMs: number
}

/** The state of a key when it was read, for monitoring: it may be outdated when it arrives. */
export interface OnceInspection {
  /** `lapsed`: the lease of the attempt has expired, and no other attempt has begun yet. */
  readonly state: 'free' | 'running' | 'lapsed' | 'finished'
  /** The token of the newest attempt; null when none is known. */
  readonly token: number | null
  /** The fingerprint of the request; null without one. */
  readonly fingerprint: string | null
  /** When the lease ends or ended, in milliseconds of the server's clock; null when the key is free. */
  readonly expiresAtMs: number | null
  /** When the key expires if nothing more happens, in milliseconds of the server's clock; null when it is free. */
  readonly keptUntilMs: number | null
  /** The size of the stored result in bytes. */
  readonly bytes: number
  /** The name of the codec of the key; null when the key is free. */
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

/** False when the key was unknown. An attempt of this process is lost at once. */
export async function clearKey<Result>(source: OnceSource<Result>, key: string): Promise<boolean> {
  const unit = unitOf(source, key)
  const clearIt = (trace: Trace) => unit.run(clear, { channel: unit.channel, sharded: unit.sharded }, trace)
  const { existed } = await source.runtime.keeper.clearing(unit.beginning, clearIt)
  return existed
}
