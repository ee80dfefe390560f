// What is stored as JSON, as text to the letter. Others write to the same feeds and queues, and nothing checks what they store;
// what is no JSON would spoil the answer that it is put into, and with it all the others in there.

import { isUtf8 } from 'node:buffer'
import { type Codec, jsonText } from 'perilune'
import { isJson } from './validity.ts'

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
