// The body of a request as its fingerprint uses it.

type Body = string | Uint8Array

const BOUNDARY = /^multipart\/[^;]*;(?:.*;)?\s*boundary=(?:"([^"]+)"|([^\s;]+))/i

/**
 * The parts of a multipart form between its boundaries, because clients choose a new boundary each time; any other body
 * as it is.
 */
export function partsOf(body: Body, type: string | null): readonly Body[] {
  const [, quoted, plain] = BOUNDARY.exec(type ?? '') ?? []
  const boundary = quoted ?? plain
  if (boundary === undefined) return [body]
  const text = typeof body === 'string' ? body : Buffer.from(body).toString('latin1')
  return text.split(`--${boundary}`)
}
