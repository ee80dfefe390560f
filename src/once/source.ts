// Shared by all calls on a `once`: the unit of a key, and the encoding of results.

import { type Codec, jsonOf, sizeOfEncoded } from '../runtime/values/codec.ts'
import { ResultNotKeptError } from '../runtime/errors/errors.ts'
import { checkName } from '../runtime/values/keys.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { Unit } from '../runtime/connection/unit.ts'

export interface OnceSource<Result> {
  readonly runtime: Runtime
  readonly name: string
  readonly codec: Codec<Result>
  readonly leaseMs: number
  readonly maxHoldMs: number
  readonly resultTtlMs: number
}

const SINCE = '6.2.0'
const MAX_RESULT_BYTES = 4 * 1024 * 1024

/** Throws InvalidArgumentError for a key that is not valid. */
export function unitOf<Result>({ runtime, name }: OnceSource<Result>, key: string): Unit {
  return new Unit(runtime, { structure: 'once', name, unit: checkName('key', key), since: SINCE })
}

/** The name of a key in error messages. */
export function resourceOf<Result>({ name }: OnceSource<Result>, key: string): string {
  return `key '${key}' of once '${name}'`
}

/** JSON, which also keeps `undefined` for a task without a result. */
export function jsonOrNothing<Result>(): Codec<Result> {
  const { name, encode, decode } = jsonOf<Result>('result')
  return {
    name,
    encode: (result) => (result === undefined ? '' : encode(result)),
    decode: (bytes) => (bytes.length === 0 ? (undefined as Result) : decode(bytes)),
  }
}

/** Throws ResultNotKeptError when the codec cannot read the result: the work was done. */
export function decodeResult<Result>(source: OnceSource<Result>, key: string, result: Buffer): Result {
  try {
    return source.codec.decode(result)
  } catch (cause) {
    throw new ResultNotKeptError(resourceOf(source, key), { cause })
  }
}

export function encodeResult<Result>({ codec }: OnceSource<Result>, result: Result): string | Uint8Array {
  const encoded = codec.encode(result)
  sizeOfEncoded('result', encoded, MAX_RESULT_BYTES)
  return encoded
}
