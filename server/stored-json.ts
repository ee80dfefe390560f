// What is stored as JSON, as text to the letter. Others write to the same feeds and queues, and nothing checks what they store;
// what is no JSON would spoil the answer that it is put into, and with it all the others in there.

import { type Codec, jsonText } from 'perilune'
import { isJson } from './valid-json.ts'

export const storedJson: Codec<string> = {
  ...jsonText,
  decode(bytes) {
    const text = jsonText.decode(bytes)
    // It says why.
    if (!isJson(text)) JSON.parse(text)
    return text
  },
}
