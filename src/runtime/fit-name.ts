// The keys of others are any text; a name here is 1 to 512 bytes without control characters.

import { createHash } from 'node:crypto'

const LONGEST = 512
// oxlint-disable-next-line no-control-regex -- control characters are what this looks for
const UNFIT = /[\u0000-\u001f\u007f]|[\ud800-\udfff]/u

/** The text as it is, or its hash where it could not be a name. */
export function fitName(text: string, mostBytes: number = LONGEST): string {
  if (text !== '' && Buffer.byteLength(text) <= mostBytes && !UNFIT.test(text)) return text
  return `sha256:${createHash('sha256').update(text).digest('hex')}`
}
