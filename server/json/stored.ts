// Stored JSON as unchanged text. Other programs write to the same feeds and queues without a check. Invalid JSON would
// corrupt the whole answer that contains it.

import { isUtf8 } from 'node:buffer'
import { type Codec, jsonText } from 'perilune'
import { isJson } from './validity.ts'

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
