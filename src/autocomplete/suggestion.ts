// What callers are told of an entry, read from its record as lua/shared/autocomplete/record packs it: in the client, for the
// server has less time.

import type { Codec } from '../runtime/codec.ts'

export interface Suggestion<Payload> {
  readonly id: string
  /** As it was added. */
  readonly text: string
  readonly score: number
  /** Null where none was added. */
  readonly payload: Payload | null
  /** True where it matches with one edit only. */
  readonly edited: boolean
}

const HEAD_BYTES = 22
const MOST_SCORE = 2 ** 52

/** Bytes that hold records, and what they are as Latin-1: of what is ASCII in it, the text. */
export interface Packed {
  readonly bytes: Buffer
  readonly latin: string
}

export function toPacked(bytes: Buffer): Packed {
  return { bytes, latin: bytes.toString('latin1') }
}

/** The record between these bytes, which matches as it is. */
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
  return {
    id: idTo === idAt ? text : textBetween(packed, idAt, idTo),
    text,
    score: MOST_SCORE - bytes.readDoubleBE(at + 8),
    payload: textTo === to ? null : codec.decode(bytes.subarray(textTo, to)),
    edited: false,
  }
}

/** A call into the decoder for each text would take longer than all else. */
export function textBetween({ bytes, latin }: Packed, from: number, to: number): string {
  for (let at = from; at < to; at++) {
    if ((bytes[at] ?? 0) > 0x7f) return bytes.toString('utf8', from, to)
  }
  return latin.slice(from, to)
}

export function shortAt(bytes: Buffer, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)
}
