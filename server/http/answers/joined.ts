// Answers with large stored parts, written from text and bytes.

import { AnswerPieces } from './pieces.ts'
import { COUNTED_BYTES } from './unsent.ts'

export type AnswerPart = string | Buffer

/** All parts, one after the other. Large ones are not copied. */
export function joined(parts: readonly AnswerPart[]): Buffer | AnswerPieces {
  const bytes = parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part))
  if (!bytes.some(({ length }) => length >= COUNTED_BYTES)) return Buffer.concat(bytes)
  return AnswerPieces.ofBytes(...inLargeParts(bytes))
}

/** A JSON list of the written items. */
export function listed<Item>(items: readonly Item[], write: (item: Item) => AnswerPart[]): AnswerPart[] {
  return ['[', ...items.flatMap((item, at) => (at === 0 ? write(item) : [',', ...write(item)])), ']']
}

function inLargeParts(parts: readonly Buffer[]): Buffer[] {
  const all: Buffer[] = []
  let small: Buffer[] = []
  for (const part of parts) {
    if (part.length < COUNTED_BYTES) {
      small.push(part)
      continue
    }
    all.push(Buffer.concat(small), part)
    small = []
  }
  return [...all, Buffer.concat(small)]
}
