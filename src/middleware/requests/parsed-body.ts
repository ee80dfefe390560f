// A body that a parser has made of bytes, as text again: the same bytes are parsed to the same value, and that gives the same text.

/** Throws TypeError where JSON would make the same text of two that differ: of a stream, a Map or an ArrayBuffer it says `{}` or what it has of its own. */
export function textOfParsed(body: unknown): string {
  let text: string
  try {
    text = JSON.stringify(body)
  } catch (error) {
    throw new TypeError(UNTOLD, { cause: error })
  }
  if (!isTold(body)) throw new TypeError(UNTOLD)
  return text
}

const UNTOLD =
  'idempotency: the body of the request is a stream, or has what JSON cannot tell from others; give `fingerprint`, which must'

/** Whether JSON tells all that is in it. Nothing is a part of itself: JSON has refused that. */
function isTold(body: unknown): boolean {
  const left = [body]
  while (left.length > 0) {
    const value = left.pop()
    if (typeof value !== 'object' || value === null || says(value)) continue
    if (!Array.isArray(value) && !isPlain(value)) return false
    for (const part of Object.values(value)) left.push(part)
  }
  return true
}

/** Whether it has words of its own for JSON, as dates and bytes of Node have. */
function says(value: object): boolean {
  return typeof (value as { toJSON?: unknown }).toJSON === 'function' || value instanceof Uint8Array
}

/** Whether it is of no class, whoever has made it. */
function isPlain(value: object): boolean {
  const kind: unknown = Object.getPrototypeOf(value)
  return kind === null || Object.getPrototypeOf(kind) === null
}
