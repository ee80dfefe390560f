// Whether a body is a list of many: what is asked of Redis for each of them takes more time than to parse them.

const MOST_ELEMENTS = 50
/** Of the lists of a request: `{"ids":[…]}`. What stands in a message, or a job, is deeper, and is one text to Redis. */
const DEPTH = 2

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const [OPENING, CLOSING] = [0x7b, 0x7d]
/** `[` and `{` differ in one bit, as `]` and `}` do. */
const CASE = 0x20

/** Of JSON; of anything else it does not matter. */
export function isLong(body: Buffer): boolean {
  let [depth, elements] = [0, 1]
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at] ?? 0
    if (byte === QUOTE) at = endOfText(body, at)
    else if (byte === COMMA && depth === DEPTH) elements += 1
    else if ((byte | CASE) === OPENING) depth += 1
    else if ((byte | CASE) === CLOSING) depth -= 1
    if (elements > MOST_ELEMENTS) return true
  }
  return false
}

/** Where the quote stands that ends the text. */
function endOfText(body: Buffer, from: number): number {
  let at = from + 1
  while (at < body.length && body[at] !== QUOTE) at += body[at] === BACKSLASH ? 2 : 1
  return at
}
