// What is stored as JSON, as text to the letter. Others write to the same feeds and queues, and nothing checks what they store;
// what is no JSON would spoil the answer that it is put into, and with it all the others in there.

import { isUtf8 } from 'node:buffer'
import { type Codec, jsonText } from 'perilune'
import { Pieces } from './pieces.ts'
import { isJson } from './valid-json.ts'

const LARGE_BYTES = 65_536

export const storedJson: Codec<string> = {
  ...jsonText,
  decode(bytes) {
    const text = jsonText.decode(bytes)
    // It says why.
    if (!isJson(bytes)) JSON.parse(text)
    return text
  },
}

/** As bytes, for answers that hold much of it: to make texts of them, and bytes of these, takes as long as all the rest. */
export const storedJsonBytes: Codec<Buffer> = {
  ...storedJson,
  encode: (bytes) => bytes,
  decode: (bytes) => (isJson(bytes) && isUtf8(bytes) ? bytes : Buffer.from(storedJson.decode(bytes))),
}

/** Texts and bytes, one behind the other, as an answer. What is large is not copied once more. */
export function joined(parts: readonly (string | Buffer)[]): Buffer | Pieces {
  const bytes = parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part))
  if (!bytes.some(({ length }) => length >= LARGE_BYTES)) return Buffer.concat(bytes)
  return Pieces.ofBytes(...inLargeParts(bytes))
}

function inLargeParts(parts: readonly Buffer[]): Buffer[] {
  const all: Buffer[] = []
  let small: Buffer[] = []
  for (const part of parts) {
    if (part.length < LARGE_BYTES) {
      small.push(part)
      continue
    }
    all.push(Buffer.concat(small), part)
    small = []
  }
  return [...all, Buffer.concat(small)]
}

/** A list of what each item is written as. */
export function listed<Item>(
  items: readonly Item[],
  write: (item: Item) => (string | Buffer)[],
): (string | Buffer)[] {
  return ['[', ...items.flatMap((item, at) => (at === 0 ? write(item) : [',', ...write(item)])), ']']
}
