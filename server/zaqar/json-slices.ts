// Where values stand in a JSON text, so that they can be kept to the letter. The text must be valid:
// JSON.parse has accepted it. No function here recurses, so no nesting is too deep.

/** Text from `from` up to but not including `to`. */
export interface Slice {
  readonly from: number
  readonly to: number
}

/** The value of a member of the object that begins at `at`; the last one of that name, as in JSON.parse. */
export function findMember(text: string, at: number, name: string): Slice | null {
  let found: Slice | null = null
  let next = skipSpace(text, at + 1)
  while (text[next] !== '}') {
    const keyEnd = skipString(text, next)
    const from = skipSpace(text, skipSpace(text, keyEnd) + 1)
    const to = skipValue(text, from)
    if (isKey(text, next, keyEnd, name)) found = { from, to }
    next = skipComma(text, to)
  }
  return found
}

/** The elements of the array that begins at `at`. */
export function findElements(text: string, at: number): Slice[] {
  const found: Slice[] = []
  let from = skipSpace(text, at + 1)
  while (text[from] !== ']') {
    const to = skipValue(text, from)
    found.push({ from, to })
    from = skipComma(text, to)
  }
  return found
}

/** Where the first value of the text begins. */
export function findStart(text: string): number {
  return skipSpace(text, 0)
}

/** How deep objects and arrays are nested: 0 for `1`, 1 for `[1]`. */
export function nestingOf(text: string): number {
  let [depth, deepest, at] = [0, 0, 0]
  while (at < text.length) {
    const char = text[at]
    if (char === '{' || char === '[') deepest = Math.max(deepest, (depth += 1))
    else if (char === '}' || char === ']') depth -= 1
    at = char === '"' ? skipString(text, at) : at + 1
  }
  return deepest
}

function isKey(text: string, from: number, to: number, name: string): boolean {
  if (text.startsWith(name, from + 1) && to - from === name.length + 2) return true
  const key = text.slice(from, to)
  return key.includes('\\') && JSON.parse(key) === name
}

function skipValue(text: string, at: number): number {
  const first = text[at]
  if (first === '"') return skipString(text, at)
  return first === '{' || first === '[' ? skipNested(text, at) : skipWord(text, at)
}

function skipNested(text: string, start: number): number {
  let [depth, at] = [0, start]
  do {
    const char = text[at]
    if (char === '{' || char === '[') depth += 1
    else if (char === '}' || char === ']') depth -= 1
    at = char === '"' ? skipString(text, at) : at + 1
  } while (depth > 0)
  return at
}

/** A number, true, false or null. */
function skipWord(text: string, start: number): number {
  let at = start
  while (at < text.length && !',]} \t\r\n'.includes(text[at] ?? '')) at += 1
  return at
}

function skipString(text: string, start: number): number {
  let at = text.indexOf('"', start + 1)
  while (isEscaped(text, at)) at = text.indexOf('"', at + 1)
  return at + 1
}

/** An odd number of backslashes stands before it. */
function isEscaped(text: string, at: number): boolean {
  let before = at - 1
  while (text[before] === '\\') before -= 1
  return (at - before) % 2 === 0
}

function skipComma(text: string, start: number): number {
  const at = skipSpace(text, start)
  return text[at] === ',' ? skipSpace(text, at + 1) : at
}

function skipSpace(text: string, start: number): number {
  let at = start
  while (at < text.length && ' \t\r\n'.includes(text[at] ?? '')) at += 1
  return at
}
