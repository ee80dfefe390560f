// Whether a body is a list of many elements: the calls to Redis for them take more time than parsing.

const MOST_ELEMENTS = 50
/**
 * The depth of the lists of a request: `{"ids":[…]}`. The content of a message or a job is deeper, and is one text for
 * Redis.
 */
const DEPTH = 2

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const [OPENING, CLOSING] = [0x7b, 0x7d]
/** `[` and `{` differ in one bit, as do `]` and `}`. */
const CASE = 0x20

/** For valid JSON; for anything else the result does not matter. */
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

/** The position of the quote that ends the text. */
function endOfText(body: Buffer, from: number): number {
  let at = from + 1
  while (at < body.length && body[at] !== QUOTE) at += body[at] === BACKSLASH ? 2 : 1
  return at
}
