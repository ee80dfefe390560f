// The positions of values in a JSON text, so that they can be stored unchanged. The text must be valid: JSON.parse has
// accepted it. No function here recurses, so no nesting is too deep.

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c]
const [ARRAY, ARRAY_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d]
const [SPACE, TAB, LINE_FEED, RETURN] = [0x20, 0x09, 0x0a, 0x0d]
/** The ends of longer strings are searched, which has a fixed cost. */
const SHORT = 16

/** Text from `from` up to but not including `to`. */
export interface Slice {
  readonly from: number
  readonly to: number
}

/** The value of a member of the object that begins at `at`; the last one of that name, as in JSON.parse. */
export function findMember(text: string, at: number, name: string): Slice | null {
  let found: Slice | null = null
  let next = skipSpace(text, at + 1)
  while (text.charCodeAt(next) !== OBJECT_END) {
    const keyEnd = skipString(text, next)
    const from = findValue(text, keyEnd)
    const to = skipValue(text, from)
    if (isKey(text, next, keyEnd, name)) found = { from, to }
    next = skipComma(text, to)
  }
  return found
}

/** The elements of a member that is an array; none if it is not. In one pass, because they may be megabytes. */
export function findElementsOf(text: string, at: number, name: string): Slice[] {
  let found: Slice[] = []
  let next = skipSpace(text, at + 1)
  while (text.charCodeAt(next) !== OBJECT_END) {
    const keyEnd = skipString(text, next)
    const from = findValue(text, keyEnd)
    const isWanted = isKey(text, next, keyEnd, name)
    const elements: Slice[] = []
    const isList = isWanted && text.charCodeAt(from) === ARRAY
    const to = isList ? passElements(text, from, elements) : skipValue(text, from)
    if (isWanted) found = elements
    next = skipComma(text, to)
  }
  return found
}

/** The nth element of the array that begins at `at`, from 0; the array must have it. */
export function findElement(text: string, at: number, nth: number): Slice {
  let from = skipSpace(text, at + 1)
  for (let passed = 0; passed < nth; passed += 1) from = skipComma(text, skipValue(text, from))
  return { from, to: skipValue(text, from) }
}

/** The position after the array. */
function passElements(text: string, at: number, found: Slice[]): number {
  let from = skipSpace(text, at + 1)
  while (text.charCodeAt(from) !== ARRAY_END) {
    const to = skipValue(text, from)
    found.push({ from, to })
    from = skipComma(text, to)
  }
  return from + 1
}

/** The position after the name that ends at `at`. */
function findValue(text: string, at: number): number {
  return skipSpace(text, skipSpace(text, at) + 1)
}

/** Where the first value of the text begins. */
export function findStart(text: string): number {
  return skipSpace(text, 0)
}

/** How deep objects and arrays are nested: 0 for `1`, 1 for `[1]`. */
export function nestingOf(text: string): number {
  let [depth, deepest, at] = [0, 0, 0]
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (opens(code)) deepest = Math.max(deepest, (depth += 1))
    else if (closes(code)) depth -= 1
    at = code === QUOTE ? skipString(text, at) : at + 1
  }
  return deepest
}

/** `[` and `{` differ in one bit, as `]` and `}` do. */
function opens(code: number): boolean {
  return (code | 0x20) === OBJECT
}

function closes(code: number): boolean {
  return (code | 0x20) === OBJECT_END
}

export function isKey(text: string, from: number, to: number, name: string): boolean {
  const length = to - from - 2
  if (length === name.length && text.startsWith(name, from + 1)) return true
  // Each of its letters may be written as \u0061.
  if (length <= name.length || length > name.length * 6) return false
  const key = text.slice(from, to)
  return key.includes('\\') && JSON.parse(key) === name
}

export function skipValue(text: string, at: number): number {
  const first = text.charCodeAt(at)
  if (first === QUOTE) return skipString(text, at)
  return first === OBJECT || first === ARRAY ? skipNested(text, at) : skipWord(text, at)
}

function skipNested(text: string, start: number): number {
  let [depth, at] = [1, start + 1]
  while (depth > 0) {
    const code = text.charCodeAt(at)
    at += 1
    if (code === QUOTE) at = skipString(text, at - 1)
    else if (opens(code)) depth += 1
    else if (closes(code)) depth -= 1
  }
  return at
}

/** A number, true, false or null. */
function skipWord(text: string, start: number): number {
  let at = start
  while (at < text.length && !endsWord(text.charCodeAt(at))) at += 1
  return at
}

function endsWord(code: number): boolean {
  return code === COMMA || code === ARRAY_END || code === OBJECT_END || isSpace(code)
}

export function skipString(text: string, start: number): number {
  let at = start + 1
  for (;;) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at + 1
    if (code === BACKSLASH) at += 2
    else if (at < start + SHORT) at += 1
    else return skipLongString(text, at)
  }
}

/** `from`: a position in the string, not after a backslash. */
function skipLongString(text: string, from: number): number {
  const end = text.indexOf('"', from)
  if (text.charCodeAt(end - 1) !== BACKSLASH) return end + 1
  let at = from
  while (text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1
  return at + 1
}

function skipComma(text: string, start: number): number {
  const at = skipSpace(text, start)
  return text.charCodeAt(at) === COMMA ? skipSpace(text, at + 1) : at
}

export function skipSpace(text: string, start: number): number {
  let at = start
  while (isSpace(text.charCodeAt(at))) at += 1
  return at
}

function isSpace(code: number): boolean {
  return code === SPACE || code === LINE_FEED || code === RETURN || code === TAB
}
