// Suggestions, decoded from the packed records of lua/shared/autocomplete/index. The client decodes them, because
// server time is scarcer.

import type { Codec, Undecodable } from '../runtime/values/codec.ts'

export interface Suggestion<Payload> {
  /** The id of the entry; its text unless it was added with another. */
  readonly id: string
  /** The text as it was added. */
  readonly text: string
  readonly score: number
  /** The payload; null when none was added, or the codec cannot decode it. */
  readonly payload: Payload | null
  /** Set when the codec cannot decode the payload, for example because another version or language stored it. */
  readonly undecodable?: Undecodable
  /** True when it matches only with one edit. */
  readonly edited: boolean
}

const HEAD_BYTES = 22
const ENTRY_HEAD_BYTES = 16
const MOST_SCORE = 2 ** 52

/** Bytes with records, and the same bytes as Latin-1, in which ASCII texts are readable. */
export interface Packed {
  readonly bytes: Buffer
  readonly latin: string
}

export function toPacked(bytes: Buffer): Packed {
  return { bytes, latin: bytes.toString('latin1') }
}

/** The record between these bytes, an exact match. */
export function readRecord<Payload>(
  packed: Packed,
  at: number,
  to: number,
  codec: Codec<Payload>,
): Suggestion<Payload> {
  const { bytes } = packed
  const idAt = at + HEAD_BYTES
  const idTo = idAt + shortAt(bytes, at + 16)
  const textAt = idTo + shortAt(bytes, at + 18)
  const textTo = textAt + shortAt(bytes, at + 20)
  const text = textBetween(packed, textAt, textTo)
  return toSuggestion(packed, codec, at + 8, idAt, idTo, text, textTo, to)
}

function toSuggestion<Payload>(
  packed: Packed,
  codec: Codec<Payload>,
  rankAt: number,
  idAt: number,
  idTo: number,
  text: string,
  textTo: number,
  to: number,
): Suggestion<Payload> {
  const { bytes } = packed
  return {
    id: idTo === idAt ? text : textBetween(packed, idAt, idTo),
    text,
    score: MOST_SCORE - bytes.readDoubleBE(rankAt),
    ...payloadOf(bytes.subarray(textTo, to), codec),
    edited: false,
  }
}

/** An undecodable payload does not suppress its suggestion, nor any other. */
export function payloadOf<Payload>(
  bytes: Buffer,
  codec: Codec<Payload>,
): Pick<Suggestion<Payload>, 'payload' | 'undecodable'> {
  if (bytes.length === 0) return { payload: null }
  try {
    return { payload: codec.decode(bytes) }
  } catch (error) {
    return { payload: null, undecodable: { bytes, error } }
  }
}

/** The entries of a front, one after the other. */
export class PackedEntries<Payload> {
  readonly #packed: Packed
  readonly #codec: Codec<Payload>
  #at: number
  /** The text of the first entry, one character per byte. */
  #first: string | null = null

  constructor(packed: Packed, at: number, codec: Codec<Payload>) {
    this.#packed = packed
    this.#at = at
    this.#codec = codec
  }

  get ended(): boolean {
    return this.#at >= this.#packed.bytes.length
  }

  next(): Suggestion<Payload> {
    const { bytes } = this.#packed
    const at = this.#at
    const idAt = at + ENTRY_HEAD_BYTES
    const textAt = idAt + shortAt(bytes, at + 8)
    const textTo = textAt + shortAt(bytes, at + 12)
    this.#at = textTo + shortAt(bytes, at + 14)
    const text = this.#text(shortAt(bytes, at + 10), textAt, textTo)
    return toSuggestion(this.#packed, this.#codec, at, idAt, textAt, text, textTo, this.#at)
  }

  /** The text of an entry that shares its first `common` bytes with the first entry. */
  #text(common: number, from: number, to: number): string {
    const { latin } = this.#packed
    this.#first ??= latin.slice(from, to)
    if (common === 0) return textBetween(this.#packed, from, to)
    const text = this.#first.slice(0, common) + latin.slice(from, to)
    for (let at = 0; at < text.length; at++) {
      if (text.charCodeAt(at) > 0x7f) return Buffer.from(text, 'latin1').toString('utf8')
    }
    return text
  }
}

/** Slices ASCII: calling the decoder for each text would dominate the time. */
export function textBetween({ bytes, latin }: Packed, from: number, to: number): string {
  for (let at = from; at < to; at++) {
    if ((bytes[at] ?? 0) > 0x7f) return bytes.toString('utf8', from, to)
  }
  return latin.slice(from, to)
}

export function shortAt(bytes: Buffer, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)
}
