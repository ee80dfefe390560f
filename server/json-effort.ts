// How long JSON.parse would take, judged before it begins: four megabytes of brackets take it half a second, of one text three
// milliseconds. What it makes costs it, not what it reads: objects and arrays, plain values, and names that it has not met.

/** Smaller bodies take less than the most in any case. */
const UNJUDGED_BYTES = 65_536
/** In nanoseconds, on one core of a server of 2020. */
const MOST = 30_000_000
const CONTAINER = 200
const VALUE = 22
const FRACTION = 55
const NEW_NAME = 700
/** Two names with one remainder are taken for the same. */
const REMAINDERS = 1 << 18

const [QUOTE, COMMA, POINT, COLON, BACKSLASH] = [0x22, 0x2c, 0x2e, 0x3a, 0x5c]
const [ARRAY, OBJECT] = [0x5b, 0x7b]

export const TOO_MUCH = 'holds more objects, arrays, names and values than one request may'

/** True when to parse this text, JSON or not, could keep everybody else waiting. */
export function takesTooLong(text: Buffer): boolean {
  if (text.length <= UNJUDGED_BYTES) return false
  const names = new Uint8Array(REMAINDERS)
  let [effort, at, from] = [0, 0, 0]
  while (at < text.length && effort <= MOST) {
    const byte = text[at]
    if (byte === QUOTE) {
      from = at
      at = skipString(text, at)
      continue
    }
    if (byte === COMMA) effort += VALUE
    else if (byte === ARRAY || byte === OBJECT) effort += CONTAINER
    else if (byte === POINT) effort += FRACTION
    else if (byte === COLON) effort += isNew(names, text, from) ? NEW_NAME : 0
    at += 1
  }
  return effort > MOST
}

/** Where the text goes on behind the string that begins at `at`. */
function skipString(text: Buffer, at: number): number {
  let next = at + 1
  while (next < text.length && text[next] !== QUOTE) next += text[next] === BACKSLASH ? 2 : 1
  return next + 1
}

/** Whether the string that begins at `from` is a name that was not met before. */
function isNew(names: Uint8Array, text: Buffer, from: number): boolean {
  let hash = 0
  for (let at = from + 1; at < text.length && text[at] !== QUOTE; at += 1) {
    hash = (Math.imul(hash, 31) + (text[at] ?? 0)) | 0
  }
  const remainder = (hash ^ (hash >>> 15)) & (REMAINDERS - 1)
  const isKnown = names[remainder] === 1
  names[remainder] = 1
  return !isKnown
}
