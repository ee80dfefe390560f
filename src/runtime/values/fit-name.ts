// External keys are arbitrary text; a name here has 1 to 512 bytes without control characters.

import { createHash } from 'node:crypto'

const LONGEST = 512
// oxlint-disable-next-line no-control-regex -- the pattern must match control characters
const UNFIT = /[\u0000-\u001f\u007f]|[\ud800-\udfff]/u

const HASHED = 'sha256:'

/** The text itself, or its hash when it is no valid name, or looks like a hash. Different texts get different names. */
export function fitName(text: string, mostBytes: number = LONGEST): string {
  const isFit = text !== '' && Buffer.byteLength(text) <= mostBytes && !UNFIT.test(text)
  if (isFit && !text.startsWith(HASHED)) return text
  return HASHED + createHash('sha256').update(bytesOf(text)).digest('hex')
}

/** UTF-8; for text that UTF-8 cannot represent, its UTF-16 after a byte that never occurs in UTF-8. */
function bytesOf(text: string): Buffer {
  const bytes = Buffer.from(text)
  return bytes.toString() === text ? bytes : Buffer.concat([Buffer.of(0xff), Buffer.from(text, 'utf16le')])
}
