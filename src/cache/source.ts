// What every call on a cache needs: its keys, its terms, and what the handles of one name share in this process.

import { VALUE_FLAGS } from '../generated/bits.ts'
import { type Codec, codecOr, jsonOf } from '../runtime/values/codec.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { checkName, unitPrefixes } from '../runtime/values/keys.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import type { Unit } from '../runtime/connection/unit.ts'
import { type Envelope, PAYLOAD } from './envelope.ts'
import type { Tell } from './events.ts'
import type { Terms } from './options.ts'
import { Shared } from './shared.ts'
import { unitIn } from './units.ts'

export interface Source<Value> {
  readonly runtime: Runtime
  readonly name: string
  readonly codec: Codec<Value>
  readonly terms: Terms
  readonly shared: Shared<Value>
  /** Null when nobody wants to know. */
  readonly tell: Tell | null
  /** What the keys in Redis of a key, or of a tag, begin with. */
  readonly prefixOf: (key: string) => string
}

const MAX_VALUE_BYTES = 16 * 1024 * 1024
const MAX_CODEC_BYTES = 64

/** Throws InvalidArgumentError. */
export function openSource<Value>(
  runtime: Runtime,
  name: string,
  terms: Terms,
  given?: Codec<Value>,
  tell: Tell | null = null,
): Source<Value> {
  const codec = codecOr(given, () => jsonOf<Value>('value'))
  if (Buffer.byteLength(codec.name) > MAX_CODEC_BYTES) {
    throw new InvalidArgumentError('codec', `must have a name of at most ${MAX_CODEC_BYTES} bytes`)
  }
  const shared = Shared.of<Value>(runtime, checkName('name', name))
  if (terms.inProcess !== null) shared.openLevel(terms.inProcess, tell)
  const prefixOf = unitPrefixes(runtime.namespace, 'cache', name)
  return { runtime, name, codec, terms, shared, tell, prefixOf }
}

/** The unit of a key, or of a tag; without either that of the cache as a whole. */
export function unitOf<Value>({ runtime, name }: Source<Value>, key?: string): Unit {
  return unitIn(runtime, name, key)
}

/** The key in Redis of a value. */
export function valueKeyOf<Value>(source: Source<Value>, key: string): string {
  return `${source.prefixOf(key)}:value`
}

/** What people call a key, in errors. */
export function resourceOf<Value>({ name }: Source<Value>, key: string): string {
  return `key '${key}' of cache '${name}'`
}

/** A value as it is stored. */
export interface Encoded {
  readonly flags: number
  readonly payload: string | Uint8Array
}

/** Throws InvalidArgumentError when the value cannot be one. */
export function encodeValue<Value>({ codec }: Source<Value>, value: Value): Encoded {
  if (value === null) return { flags: VALUE_FLAGS.null, payload: '' }
  if (value === undefined) return { flags: VALUE_FLAGS.undefined, payload: '' }
  const payload = codec.encode(value)
  if (Buffer.byteLength(payload) > MAX_VALUE_BYTES) {
    throw new InvalidArgumentError('value', `must be at most ${MAX_VALUE_BYTES} bytes when encoded`)
  }
  return { flags: PAYLOAD, payload }
}

/** What a writer adds to the flags of a value that its own process will keep a copy of. */
export function heldBy(level: object | null): number {
  return level === null ? 0 : VALUE_FLAGS.held
}

/** In the place of a value that its codec cannot read: for a cache there is none, and a load makes another. */
export const UNDECODABLE: unique symbol = Symbol('undecodable')
export type Decoded<Value> = Value | typeof UNDECODABLE

/** Tells what the codec threw. Throws InvalidArgumentError when the value was made with another codec. */
export function decodeValue<Value>(
  { codec, tell }: Source<Value>,
  key: string,
  envelope: Envelope,
): Decoded<Value> {
  const { flags } = envelope
  if (flags === VALUE_FLAGS.null) return null as Value
  if (flags === VALUE_FLAGS.undefined) return undefined as Value
  envelope.checkCodec(codec.name)
  try {
    return codec.decode(envelope.payload)
  } catch (error) {
    tell?.({ kind: 'undecodable', key, error })
    return UNDECODABLE
  }
}

/** As `decodeValue`, of a copy that this process keeps. */
export function decodeCopy<Value>(source: Source<Value>, key: string, envelope: Envelope): Decoded<Value> {
  const decode = (): Decoded<Value> => decodeValue(source, key, envelope)
  return source.shared.level?.limits.share ? envelope.decodedOnce(source.codec.name, decode) : decode()
}
