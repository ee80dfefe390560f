// The keys of others are any text; a name here is 1 to 512 bytes without control characters.

import { createHash } from 'node:crypto'

const LONGEST = 512
// oxlint-disable-next-line no-control-regex -- control characters are what this looks for
const UNFIT = /[\u0000-\u001f\u007f]|[\ud800-\udfff]/u

const HASHED = 'sha256:'

/** The text as it is, or its hash where it could not be a name, or looks like a hash. Two texts have two names. */
export function fitName(text: string, mostBytes: number = LONGEST): string {
  const isFit = text !== '' && Buffer.byteLength(text) <= mostBytes && !UNFIT.test(text)
  if (isFit && !text.startsWith(HASHED)) return text
  return HASHED + createHash('sha256').update(bytesOf(text)).digest('hex')
}

/** UTF-8; where that cannot hold it, behind a byte that UTF-8 never has. */
function bytesOf(text: string): Buffer {
  const bytes = Buffer.from(text)
  return bytes.toString() === text ? bytes : Buffer.concat([Buffer.of(0xff), Buffer.from(text, 'utf16le')])
}
