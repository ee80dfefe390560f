import { checkWellFormed } from './arguments.ts'
import { InvalidArgumentError } from '../errors/errors.ts'

/** How values become bytes. The name is stored with the structure; another codec is then refused. */
export interface Codec<Value> {
  readonly name: string
  encode(value: Value): string | Uint8Array
  decode(bytes: Buffer): Value
}

/** What the codec could not read: the bytes as they are stored, and what it threw. */
export interface Undecodable {
  readonly bytes: Uint8Array
  readonly error: unknown
}

/**
 * The codec that was given, else that by default. One that is none, such as `json` in the place of `json()`, is refused before
 * anything is done with it: what it cannot read would be taken for broken, and buried. Throws InvalidArgumentError.
 */
export function codecOr<Value>(given: Codec<Value> | undefined, byDefault: () => Codec<Value>): Codec<Value> {
  if (given === undefined) return byDefault()
  // From JavaScript anything may come, null as well.
  const { name, encode, decode } = Object(given) as Partial<Codec<Value>>
  if (
    typeof encode === 'function' &&
    typeof decode === 'function' &&
    typeof name === 'string' &&
    name !== ''
  ) {
    return given
  }
  throw new InvalidArgumentError(
    'codec',
    'must be json(), jsonText, text, bytes, or an object with a name, encode and decode',
  )
}

/** JSON, the default. Throws InvalidArgumentError for what JSON cannot hold. */
export function json<Value>(): Codec<Value> {
  return jsonOf('body')
}

/** As `json`; errors call the value by the name of this argument. */
export function jsonOf<Value>(argument: string): Codec<Value> {
  return {
    name: 'json',
    encode: (value) => toJson(argument, value),
    decode: (bytes) => JSON.parse(bytes.toString('utf8')) as Value,
  }
}

/** JSON of a value that errors call by the name of this argument. Throws InvalidArgumentError for what JSON cannot hold. */
export function toJson(argument: string, value: unknown): string {
  const text = stringify(argument, value) as string | undefined
  if (text === undefined) throw new InvalidArgumentError(argument, 'must be a value that JSON can hold')
  return text
}

/** A BigInt, or what contains itself, is a TypeError of the language, which names no argument. */
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

/** JSON that is text already: it is stored and comes back to the letter, numbers and spaces included. */
export const jsonText: Codec<string> = {
  name: 'json',
  encode: (text) => text,
  decode: (bytes) => bytes.toString('utf8'),
}

/** Text as it is, in UTF-8. Throws InvalidArgumentError for what is no text, and for text that UTF-8 cannot hold. */
export const text: Codec<string> = {
  name: 'text',
  encode: (value) => checkWellFormed('text', value),
  decode: (bytes) => bytes.toString('utf8'),
}

/** Bytes as they are. */
export const bytes: Codec<Uint8Array> = {
  name: 'bytes',
  encode: (value) => value,
  decode: (value) => value,
}
