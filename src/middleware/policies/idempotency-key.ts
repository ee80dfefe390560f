// The request header Idempotency-Key (draft-ietf-httpapi-idempotency-key-header-07): a string in the syntax of
// structured fields (RFC 9651, 3.3.3), or the bare key, which many clients send.

const MAX_CHARACTERS = 255
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])+)"$/
const BARE = /^[A-Za-z0-9!#$%&'*+\-.^_`|~:/=@]+$/

/** The key; null when the header is malformed. */
export function parseIdempotencyKey(header: string): string | null {
  const trimmed = header.trim()
  const quoted = QUOTED.exec(trimmed)?.[1]?.replace(/\\(.)/g, '$1')
  const key = quoted ?? (BARE.test(trimmed) ? trimmed : null)
  return key === null || key.length > MAX_CHARACTERS ? null : key
}
