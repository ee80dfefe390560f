// A body as the fingerprint of its request has it.

type Body = string | Uint8Array

const BOUNDARY = /^multipart\/[^;]*;(?:.*;)?\s*boundary=(?:"([^"]+)"|([^\s;]+))/i

/** What stands between the boundaries of a form, which clients draw anew each time they send it; any other body as it is. */
export function partsOf(body: Body, type: string | null): readonly Body[] {
  const [, quoted, plain] = BOUNDARY.exec(type ?? '') ?? []
  const boundary = quoted ?? plain
  if (boundary === undefined) return [body]
  const text = typeof body === 'string' ? body : Buffer.from(body).toString('latin1')
  return text.split(`--${boundary}`)
}
