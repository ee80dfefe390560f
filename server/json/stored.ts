// Stored JSON as unchanged text. Other programs write to the same feeds and queues without a check. Invalid JSON would
// corrupt the whole answer that contains it.

import { isUtf8 } from 'node:buffer'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Codec, jsonText } from 'perilune'
import { isJson, isJsonInSteps } from './validity.ts'

export const storedJson: Codec<string> = {
  ...jsonText,
  decode(bytes) {
    const text = jsonText.decode(bytes)
    // Its error has the reason.
    if (!isJson(bytes)) JSON.parse(text)
    return text
  },
}

/** As bytes, for large answers: converting them to text and back takes as long as everything else. */
export const storedJsonBytes: Codec<Buffer> = {
  ...storedJson,
  encode: (bytes) => bytes,
  decode: (bytes) => (isJson(bytes) && isUtf8(bytes) ? bytes : Buffer.from(storedJson.decode(bytes))),
}

/** As bytes that are not checked: `isStoredJson` does that for one that may be large. */
export const uncheckedJson: Codec<Buffer> = { ...storedJsonBytes, decode: (bytes) => Buffer.from(bytes) }

/** In steps, between which other requests are served. */
export async function isStoredJson(bytes: Buffer): Promise<boolean> {
  return isUtf8(bytes) && isJsonInSteps(bytes, nextTurn)
}
