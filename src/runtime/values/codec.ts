import { isUint8Array } from 'node:util/types'
import { checkWellFormed } from './arguments.ts'
import { InvalidArgumentError } from '../errors/errors.ts'

/** Converts values to bytes and back. The name is stored with the structure; another codec is then rejected. */
export interface Codec<Value> {
  readonly name: string
  encode(value: Value): string | Uint8Array
  decode(bytes: Buffer): Value
}

/** A value that the codec could not read: the stored bytes, and the error thrown. */
export interface Undecodable {
  readonly bytes: Uint8Array
  readonly error: unknown
}

/**
 * The given codec, else the default one. An invalid codec, such as `json` in place of `json()`, is rejected before its
 * first use: otherwise every value would seem corrupt, and its job would be failed. Throws InvalidArgumentError.
 */
export function codecOr<Value>(given: Codec<Value> | undefined, byDefault: () => Codec<Value>): Codec<Value> {
  if (given === undefined) return byDefault()
  // JavaScript callers may pass anything, including null.
  const { name, encode, decode } = Object(given) as Partial<Codec<Value>>
  if (
    typeof encode === 'function' &&
    typeof decode === 'function' &&
    typeof name === 'string' &&
    name !== ''
  ) {
    return given === (bytes as unknown) || makesText(given) ? given : owning(given)
  }
  throw new InvalidArgumentError(
    'codec',
    'must be json(), jsonText, text, bytes, or an object with a name, encode and decode',
  )
}

const owningOf = new WeakMap<object, unknown>()

/** The codec of a user may encode every value into one buffer. */
function owning<Value>(codec: Codec<Value>): Codec<Value> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- made below, of this very codec
  const known = owningOf.get(codec) as Codec<Value> | undefined
  if (known !== undefined) return known
  const own: Codec<Value> = {
    name: codec.name,
    encode(value) {
      const encoded = codec.encode(value)
      return isUint8Array(encoded) ? Buffer.from(encoded) : encoded
    },
    decode: (encoded) => codec.decode(encoded),
  }
  owningOf.set(codec, own)
  return own
}

/** Throws InvalidArgumentError if an encoded value is neither text nor bytes: the codec may be of a caller without types. */
export function checkEncoded(argument: string, encoded: string | Uint8Array): string | Uint8Array {
  if (typeof encoded === 'string' || isUint8Array(encoded)) return encoded
  throw new InvalidArgumentError(
    argument,
    'must be encoded as text or bytes, but the codec returned something else',
  )
}

/** The size of an encoded value, in bytes. Throws InvalidArgumentError if it is neither text nor bytes, or too large. */
export function sizeOfEncoded(argument: string, encoded: string | Uint8Array, mostBytes: number): number {
  const bytes = Buffer.byteLength(checkEncoded(argument, encoded))
  if (bytes > mostBytes) {
    throw new InvalidArgumentError(argument, `must be at most ${mostBytes} bytes when encoded`)
  }
  return bytes
}

/** JSON, the default. Throws InvalidArgumentError for a value that JSON cannot represent. */
export function json<Value>(): Codec<Value> {
  return jsonOf('body')
}

/** Like `json`; errors call the value by this argument's name. */
export function jsonOf<Value>(argument: string): Codec<Value> {
  return {
    name: 'json',
    encode: (value) => toJson(argument, value),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what was stored under this name is of this type
    decode: parseJson as (bytes: Buffer) => Value,
  }
}

function parseJson(bytes: Buffer): unknown {
  return JSON.parse(bytes.toString('utf8'))
}

function toText(bytes: Buffer): string {
  return bytes.toString('utf8')
}

/** One of ours, which decode bytes to a text, or parse it, and keep none of them. */
function makesText<Value>({ decode }: Codec<Value>): boolean {
  return (decode as unknown) === toText || (decode as unknown) === parseJson
}

const kinds = new WeakMap<object, string>()
let codecs = 0

/**
 * How a codec decodes: codecs of one kind make the same of the same bytes. `json` and `jsonText` have one name, and so
 * may a user's.
 */
export function decodingOf<Value>(codec: Codec<Value>): { kind: string; keepsBytes: boolean } {
  const isText = (codec.decode as unknown) === toText
  if (makesText(codec)) return { kind: isText ? `${codec.name} text` : codec.name, keepsBytes: false }
  let kind = kinds.get(codec)
  if (kind === undefined) {
    codecs += 1
    kind = `${codec.name} ${codecs}`
    kinds.set(codec, kind)
  }
  return { kind, keepsBytes: true }
}

/**
 * JSON of a value; errors call it by this argument's name. Throws InvalidArgumentError for a value that JSON cannot
 * represent.
 */
export function toJson(argument: string, value: unknown): string {
  const text = stringify(argument, value) as string | undefined
  if (text === undefined) throw new InvalidArgumentError(argument, 'must be a value that JSON can hold')
  return text
}

/** For a BigInt or a cycle JSON.stringify throws a TypeError, which names no argument. */
function stringify(argument: string, value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause
    const refusal = new InvalidArgumentError(argument, 'must be a value that JSON can hold')
    refusal.cause = cause
    throw refusal
  }
}

/** JSON that is text already: it is stored and returned unchanged, including number formats and spaces. */
export const jsonText: Codec<string> = {
  name: 'json',
  encode: (text) => text,
  decode: toText,
}

/**
 * Plain text in UTF-8. Throws InvalidArgumentError for a value that is no text, and for text that UTF-8 cannot
 * represent.
 */
export const text: Codec<string> = {
  name: 'text',
  encode: (value) => checkWellFormed('text', value),
  decode: toText,
}

/** Unchanged bytes. Those that are given are copied: the caller may write into them before they are sent. */
export const bytes: Codec<Uint8Array> = {
  name: 'bytes',
  encode: (value) => (isUint8Array(value) ? Buffer.from(value) : value),
  decode: (value) => value,
}
