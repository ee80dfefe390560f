// Whether a text is JSON, without making anything of it: JSON.parse takes a microsecond for each name that it has not met, and a page
// has megabytes of them. Here a character costs the same whatever it is in, and no nesting is too deep.

const [QUOTE, BACKSLASH, COMMA, COLON, ZERO, NINE] = [0x22, 0x5c, 0x2c, 0x3a, 0x30, 0x39]
const [ARRAY, OBJECT, OBJECT_END] = [0x5b, 0x7b, 0x7d]
/** From what opens to what closes it. */
const TO_END = 2
const [MINUS, PLUS, POINT, EXPONENT] = [0x2d, 0x2b, 0x2e, 0x65]
const LOWER_CASE = 0x20
const [LETTERS, TRUE, FALSE] = [0x41, 0x74, 0x66]
const [SPACE, TAB, LINE_FEED, RETURN] = [0x20, 0x09, 0x0a, 0x0d]
const ESCAPED = new Set(Buffer.from('"\\/bfnrt'))
const [LETTER_U, LETTER_A, LETTER_F] = [0x75, 0x61, 0x66]
// oxlint-disable-next-line no-control-regex -- control characters are what may not stand in a text
const PLAIN = /[^"\\\u0000-\u001f]*/y
/** Longer texts are passed by the expression, which has a cost of its own. */
const SHORT = 32
/** In the place of where a text goes on: it does not. */
const NOWHERE = -1

export function isJson(text: string): boolean {
  /** What closes the arrays and objects that are open. */
  const open: number[] = []
  let at = passSpace(text, 0)
  for (;;) {
    const first = text.charCodeAt(at)
    const isOpened = first === ARRAY || first === OBJECT
    at = isOpened ? passSpace(text, at + 1) : passPlain(text, at)
    if (isOpened && text.charCodeAt(at) !== first + TO_END) {
      open.push(first + TO_END)
      if (first === OBJECT) at = passName(text, at)
    } else {
      at = passEnds(text, isOpened ? at + 1 : at, open)
      if (at === text.length && open.length === 0) return true
    }
    if (at === NOWHERE) return false
  }
}

/** From behind a value to where the next one begins, or the end of the text. */
function passEnds(text: string, from: number, open: number[]): number {
  if (from === NOWHERE) return NOWHERE
  let at = passSpace(text, from)
  while (open.length > 0) {
    const end = open[open.length - 1]
    const code = text.charCodeAt(at)
    if (code === COMMA) {
      const next = passSpace(text, at + 1)
      return end === OBJECT_END ? passName(text, next) : next
    }
    if (code !== end) return NOWHERE
    open.pop()
    at = passSpace(text, at + 1)
  }
  return at === text.length ? at : NOWHERE
}

/** A name, and what stands between it and its value. */
function passName(text: string, at: number): number {
  if (text.charCodeAt(at) !== QUOTE) return NOWHERE
  const behind = passText(text, at + 1)
  if (behind === NOWHERE) return NOWHERE
  const colon = passSpace(text, behind)
  return text.charCodeAt(colon) === COLON ? passSpace(text, colon + 1) : NOWHERE
}

/** What holds no other value. */
function passPlain(text: string, at: number): number {
  const first = text.charCodeAt(at)
  if (first === QUOTE) return passText(text, at + 1)
  if (first < LETTERS) return passNumber(text, at)
  const word = first === TRUE ? 'true' : first === FALSE ? 'false' : 'null'
  return text.startsWith(word, at) ? at + word.length : NOWHERE
}

/** `from`: behind its first quote. */
function passText(text: string, from: number): number {
  let [at, short] = [from, from + SHORT]
  for (;;) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at + 1
    if (code === BACKSLASH) at = passEscape(text, at)
    else if (code >= SPACE) at += 1
    else return NOWHERE
    if (at === NOWHERE) return NOWHERE
    if (at >= short) {
      PLAIN.lastIndex = at
      PLAIN.test(text)
      at = PLAIN.lastIndex
      short = at + SHORT
    }
  }
}

function passEscape(text: string, from: number): number {
  const code = text.charCodeAt(from + 1)
  if (code !== LETTER_U) return ESCAPED.has(code) ? from + 2 : NOWHERE
  for (let at = from + 2; at < from + 6; at += 1) if (!isHex(text.charCodeAt(at))) return NOWHERE
  return from + 6
}

function isHex(code: number): boolean {
  const lower = code | LOWER_CASE
  return (code >= ZERO && code <= NINE) || (lower >= LETTER_A && lower <= LETTER_F)
}

function passNumber(text: string, from: number): number {
  let at = text.charCodeAt(from) === MINUS ? from + 1 : from
  at = text.charCodeAt(at) === ZERO ? at + 1 : passDigits(text, at)
  if (at !== NOWHERE && text.charCodeAt(at) === POINT) at = passDigits(text, at + 1)
  if (at === NOWHERE || (text.charCodeAt(at) | LOWER_CASE) !== EXPONENT) return at
  const sign = text.charCodeAt(at + 1)
  return passDigits(text, sign === PLUS || sign === MINUS ? at + 2 : at + 1)
}

/** At least one. */
function passDigits(text: string, from: number): number {
  let at = from
  let code = text.charCodeAt(at)
  while (code >= ZERO && code <= NINE) code = text.charCodeAt((at += 1))
  return at === from ? NOWHERE : at
}

function passSpace(text: string, from: number): number {
  let at = from
  let code = text.charCodeAt(at)
  while (code === SPACE || code === LINE_FEED || code === RETURN || code === TAB) {
    code = text.charCodeAt((at += 1))
  }
  return at
}
