// Estimates the time of JSON.parse in advance: four megabytes of brackets take half a second, four megabytes of one
// text three milliseconds. The cost depends on what is created, not on what is read: objects and arrays, plain values,
// new short texts and names, names in a new order, and objects with many names, or with names that are numbers.

import { randomInt } from 'node:crypto'

/** Smaller bodies always take less than the limit. */
const UNJUDGED_BYTES = 65_536
/** In nanoseconds, on one core of a server of 2020. */
const MOST = 25_000_000
/**
 * For documents that are stored and parsed repeatedly: a page has many of these, and many clients may request them at
 * once.
 */
const MOST_OF_A_DOCUMENT = 1_000_000
const CONTAINER = 150
const VALUE = 22
const FRACTION = 55
const EXPONENT = 15
const LONG_NUMBER = 110
const TEXT = 5
const ESCAPED = 70
const NEW_TEXT = 270
const NAME = 20
const NEW_NAME = 700
const NEW_ORDER = 170
/** Objects with so many names, or with a name that is a number, have another internal form. */
const MANY_NAMES = 128
const NAME_OF_MANY = 200
const NUMBER_AS_NAME = 450

/** With its quotes. Longer texts are not looked up. */
const SHORT_BYTES = 12
const LONG_NUMBER_BYTES = 16
/** Deeper levels share what is known of their names. */
const LEVELS = 1024

const [QUOTE, BACKSLASH] = [0x22, 0x5c]
const [ZERO, NINE] = [0x30, 0x39]
const [COMMA, POINT, COLON, OPENING, CLOSING, LETTER_E] = [1, 2, 3, 4, 5, 6]
/** The meaning of a byte outside of texts; 0: none. A quote has a meaning, too. */
const MEANINGS = new Uint8Array(256)
for (const [char, meaning] of Object.entries({
  ',': COMMA,
  '.': POINT,
  ':': COLON,
  '[': OPENING,
  '{': OPENING,
  ']': CLOSING,
  '}': CLOSING,
  e: LETTER_E,
  E: LETTER_E,
  '"': QUOTE,
})) {
  MEANINGS[char.charCodeAt(0)] = meaning
}

export const TOO_MUCH = 'holds more objects, arrays, names, texts and values than one request may'

/** True if parsing this text, JSON or not, could make all other requests wait. */
export function takesTooLong(text: Buffer): boolean {
  return text.length > UNJUDGED_BYTES && new Judgement(text).takesLongerThan(MOST)
}

/** Like `takesTooLong`, for a document that is parsed at each access. */
export function isTooIntricate(text: string): boolean {
  return new Judgement(Buffer.from(text)).takesLongerThan(MOST_OF_A_DOCUMENT)
}

class Judgement {
  readonly #text: Buffer
  readonly #texts = new Met()
  readonly #orders = new Met()
  /** A hash of the names that the object of each level has had so far. */
  readonly #names = new Int32Array(LEVELS)
  /** Their numbers. */
  readonly #counts = new Int32Array(LEVELS)
  /** Whether one of them is a number. */
  readonly #numbers = new Uint8Array(LEVELS)
  #level = 0
  /** Where the last meaningful byte ended. */
  #behind = 0
  /** The start of the last text. */
  #from = 0
  #to = 0
  #isEscaped = false

  constructor(text: Buffer) {
    this.#text = text
  }

  takesLongerThan(most: number): boolean {
    const text = this.#text
    let [at, effort] = [0, 0]
    while (at < text.length) {
      const meaning = MEANINGS[text[at] ?? 0] ?? 0
      if (meaning === 0) {
        at += 1
        continue
      }
      const from = at
      at = meaning === QUOTE ? this.#passText(at) : at + 1
      effort += this.#effortOf(meaning, from - this.#behind)
      if (effort > most) return true
      this.#behind = at
    }
    return false
  }

  /** `before`: bytes without a meaning before it. */
  #effortOf(meaning: number, before: number): number {
    if (meaning === COMMA) return before < LONG_NUMBER_BYTES ? VALUE : VALUE + LONG_NUMBER
    // The E of a number, of true or of false.
    if (meaning === LETTER_E) return EXPONENT
    if (meaning === POINT) return FRACTION
    if (meaning === QUOTE) return this.#effortOfText()
    if (meaning === COLON) return this.#effortOfName()
    this.#level += meaning === OPENING ? 1 : -1
    if (meaning === CLOSING) return 0
    const level = this.#level & (LEVELS - 1)
    this.#names[level] = 0
    this.#counts[level] = 0
    this.#numbers[level] = 0
    return CONTAINER
  }

  /** The position after the string that begins at `from`. */
  #passText(from: number): number {
    const text = this.#text
    let [to, escapes] = [from + 1, 0]
    while (to < text.length && text[to] !== QUOTE) {
      if (text[to] === BACKSLASH) {
        escapes += 1
        to += 1
      }
      to += 1
    }
    this.#from = from
    this.#to = to + 1
    this.#isEscaped = escapes > 0
    return to + 1
  }

  #effortOfText(): number {
    const isNew = this.#isShort && this.#texts.isNew(this.#hash())
    return TEXT + (this.#isEscaped ? ESCAPED : 0) + (isNew ? NEW_TEXT : 0)
  }

  /** The last text turns out to be a name. */
  #effortOfName(): number {
    const hash = this.#hash()
    const isNew = !this.#isShort && this.#texts.isNew(hash)
    const level = this.#level & (LEVELS - 1)
    const names = mixed(this.#names[level] ?? 0, hash)
    this.#names[level] = names
    const ofForm = this.#effortOfForm(level)
    return NAME + (isNew ? NEW_NAME : 0) + (this.#orders.isNew(names) ? NEW_ORDER : 0) + ofForm
  }

  /** The cost of another name in the internal form of an object. */
  #effortOfForm(level: number): number {
    const count = (this.#counts[level] ?? 0) + 1
    this.#counts[level] = count
    const isFirst = this.#numbers[level] === 0 && this.#isNumber
    if (isFirst) this.#numbers[level] = 1
    // When the object outgrows its form, all names are moved.
    const moved = count === MANY_NAMES ? count : count > MANY_NAMES ? 1 : 0
    return moved * NAME_OF_MANY + (isFirst ? NUMBER_AS_NAME : 0)
  }

  /** Whether the last text may be a number: its first and last characters decide. */
  get #isNumber(): boolean {
    return this.#isShort && isDigit(this.#text[this.#from + 1]) && isDigit(this.#text[this.#to - 2])
  }

  get #isShort(): boolean {
    return this.#to - this.#from <= SHORT_BYTES
  }

  #hash(): number {
    let hash = 1
    for (let at = this.#from + 1; at < this.#to; at += 1) hash = mixed(hash, this.#text[at] ?? 0)
    return hash
  }
}

function isDigit(byte = 0): boolean {
  return byte >= ZERO && byte <= NINE
}

/** Secret: a client that knows it could write many texts with one hash. */
const FACTOR = randomInt(1 << 20, 1 << 30) * 2 + 1

function mixed(hash: number, part: number): number {
  const product = Math.imul(hash ^ part, FACTOR)
  return product ^ (product >>> 15)
}

const REMAINDERS = 1 << 21

/** Known texts, by their hash. Two with the same remainder are treated as equal. */
class Met {
  readonly #bits = new Uint8Array(REMAINDERS / 8)

  isNew(hash: number): boolean {
    const remainder = hash & (REMAINDERS - 1)
    const [byte, bit] = [remainder >>> 3, 1 << (remainder & 7)]
    const known = this.#bits[byte] ?? 0
    this.#bits[byte] = known | bit
    return (known & bit) === 0
  }
}
