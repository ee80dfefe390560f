// Whether bytes are JSON, without creating any values: JSON.parse takes a microsecond for each new name, and a page has
// megabytes of them. Here a byte always costs the same, and no nesting is too deep.

const [QUOTE, BACKSLASH, COMMA, COLON, ZERO, NINE] = [0x22, 0x5c, 0x2c, 0x3a, 0x30, 0x39]
const [ARRAY, OBJECT, OBJECT_END] = [0x5b, 0x7b, 0x7d]
/** From an opening bracket to its closing one. */
const TO_END = 2
const [MINUS, PLUS, POINT, EXPONENT] = [0x2d, 0x2b, 0x2e, 0x65]
const LOWER_CASE = 0x20
const [LETTERS, TRUE, FALSE] = [0x41, 0x74, 0x66]
const [SPACE, TAB, LINE_FEED, RETURN] = [0x20, 0x09, 0x0a, 0x0d]
const ESCAPED = new Set(Buffer.from('"\\/bfnrt'))
const [LETTER_U, LETTER_A, LETTER_F] = [0x75, 0x61, 0x66]
const WORDS = { true: Buffer.from('true'), false: Buffer.from('false'), null: Buffer.from('null') }
/** Longer texts are scanned in words of four bytes, which has a fixed cost. */
const SHORT = 64
/** A part of a check in steps takes about two milliseconds. */
const STEP_BYTES = 512 * 1024
/** In the place of a position: the text is invalid. */
const NOWHERE = -1

interface Words {
  /** Position of the first word. */
  readonly first: number
  readonly all: Uint32Array
}

/** Words of the present text: created once, and only for a long text. */
let words: Words | null = null

/** Does not check that the bytes are UTF-8. */
export function isJson(text: Uint8Array): boolean {
  return new JsonCheck(text).passUntil(text.length) === 'valid'
}

/** The same in parts: `step` is awaited between two of them, so that others are served. */
export async function isJsonInSteps(text: Uint8Array, step: () => Promise<void>): Promise<boolean> {
  const check = new JsonCheck(text)
  for (let until = STEP_BYTES; ; until += STEP_BYTES) {
    const found = check.passUntil(until)
    if (found !== 'unfinished') return found === 'valid'
    await step()
  }
}

class JsonCheck {
  readonly #text: Uint8Array
  /** The closing brackets of the open arrays and objects. */
  readonly #open: number[] = []
  #at: number
  #words: Words | null = null

  constructor(text: Uint8Array) {
    this.#text = text
    this.#at = passSpace(text, 0)
  }

  /** At least up to this position, which may be in the middle of a value. */
  passUntil(until: number): 'valid' | 'invalid' | 'unfinished' {
    words = this.#words
    const found = this.#pass(until)
    this.#words = found === 'unfinished' ? words : null
    words = null
    return found
  }

  #pass(until: number): 'valid' | 'invalid' | 'unfinished' {
    const [text, open] = [this.#text, this.#open]
    let at = this.#at
    for (;;) {
      const first = byteAt(text, at)
      const isOpened = first === ARRAY || first === OBJECT
      at = isOpened ? passSpace(text, at + 1) : passPlain(text, first, at)
      if (isOpened && byteAt(text, at) !== first + TO_END) {
        open.push(first + TO_END)
        if (first === OBJECT) at = passName(text, at)
      } else {
        if (isOpened) at += 1
        // Most values are followed by a comma in a list.
        if (text[at] === COMMA && open[open.length - 1] === ARRAY + TO_END) at = passSpace(text, at + 1)
        else at = passEnds(text, at, open)
        if (at === text.length && open.length === 0) return 'valid'
      }
      if (at === NOWHERE) return 'invalid'
      if (at >= until) {
        this.#at = at
        return 'unfinished'
      }
    }
  }
}

/** From the end of a value to the start of the next one, or the end of the text. */
function passEnds(text: Uint8Array, from: number, open: number[]): number {
  if (from === NOWHERE) return NOWHERE
  let at = passSpace(text, from)
  while (open.length > 0) {
    const end = open[open.length - 1]
    const code = byteAt(text, at)
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

/** A name, and the colon up to its value. */
function passName(text: Uint8Array, at: number): number {
  if (byteAt(text, at) !== QUOTE) return NOWHERE
  const behind = passText(text, at + 1)
  if (behind === NOWHERE) return NOWHERE
  const colon = passSpace(text, behind)
  return byteAt(text, colon) === COLON ? passSpace(text, colon + 1) : NOWHERE
}

/** A value without inner values. */
function passPlain(text: Uint8Array, first: number, at: number): number {
  if (first === QUOTE) return passText(text, at + 1)
  if (first < LETTERS) return passNumber(text, at)
  return passWord(text, at, first === TRUE ? WORDS.true : first === FALSE ? WORDS.false : WORDS.null)
}

function passWord(text: Uint8Array, from: number, word: Uint8Array): number {
  for (let at = 0; at < word.length; at += 1) if (text[from + at] !== word[at]) return NOWHERE
  return from + word.length
}

/** `from`: the position after its first quote. */
function passText(text: Uint8Array, from: number): number {
  let [at, short] = [from, from + SHORT]
  while (at < text.length) {
    const code = text[at] as number
    if (code === QUOTE) return at + 1
    if (code < SPACE) return NOWHERE
    at = code === BACKSLASH ? passEscape(text, at) : at + 1
    if (at === NOWHERE) return NOWHERE
    if (at >= short) {
      at = passWords((words ??= wordsOf(text)), at)
      short = at + SHORT
    }
  }
  return NOWHERE
}

/** Up to the word of four bytes that has a quote, a backslash or a control character, or the last words. */
function passWords({ first, all }: Words, from: number): number {
  // Some bytes of the first word may have been scanned already.
  let at = Math.floor((from - first) / 4)
  while (at < all.length && !holdsMeaning(all[at] as number)) at += 1
  return Math.max(from, first + at * 4)
}

/** The bytes that are aligned as words. */
function wordsOf({ buffer, byteOffset, length }: Uint8Array): Words {
  const first = Math.min(length, -byteOffset & 3)
  return { first, all: new Uint32Array(buffer, byteOffset + first, Math.max(0, length - first) >> 2) }
}

/** A byte that is less than the subtracted one borrows from its highest bit; likewise a 0 in the place of a 1. */
function holdsMeaning(word: number): boolean {
  const [quotes, backslashes] = [word ^ 0x22222222, word ^ 0x5c5c5c5c]
  const borrowed =
    ((quotes - 0x01010101) & ~quotes) |
    ((backslashes - 0x01010101) & ~backslashes) |
    ((word - 0x20202020) & ~word)
  return (borrowed & 0x80808080) !== 0
}

function passEscape(text: Uint8Array, from: number): number {
  const code = byteAt(text, from + 1)
  if (code !== LETTER_U) return ESCAPED.has(code) ? from + 2 : NOWHERE
  for (let at = from + 2; at < from + 6; at += 1) if (!isHex(byteAt(text, at))) return NOWHERE
  return from + 6
}

function isHex(code: number): boolean {
  const lower = code | LOWER_CASE
  return (code >= ZERO && code <= NINE) || (lower >= LETTER_A && lower <= LETTER_F)
}

function passNumber(text: Uint8Array, from: number): number {
  let at = byteAt(text, from) === MINUS ? from + 1 : from
  at = byteAt(text, at) === ZERO ? at + 1 : passDigits(text, at)
  if (at === NOWHERE) return at
  let next = byteAt(text, at)
  if (next === COMMA) return at
  if (next === POINT) {
    at = passDigits(text, at + 1)
    next = at === NOWHERE ? NOWHERE : byteAt(text, at)
  }
  if ((next | LOWER_CASE) !== EXPONENT) return at
  const sign = byteAt(text, at + 1)
  return passDigits(text, sign === PLUS || sign === MINUS ? at + 2 : at + 1)
}

/** At least one digit. */
function passDigits(text: Uint8Array, from: number): number {
  let at = from
  let code = byteAt(text, at)
  while (code >= ZERO && code <= NINE) code = byteAt(text, (at += 1))
  return at === from ? NOWHERE : at
}

function passSpace(text: Uint8Array, from: number): number {
  let code = byteAt(text, from)
  if (code > SPACE) return from
  let at = from
  while (code === SPACE || code === LINE_FEED || code === RETURN || code === TAB) {
    code = byteAt(text, (at += 1))
  }
  return at
}

/** After the end, a byte that is valid nowhere. */
function byteAt(text: Uint8Array, at: number): number {
  return text[at] ?? NOWHERE
}
