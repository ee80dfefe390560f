// Creates, changes and stores fetch responses for the middleware.

import { type Answer, BODILESS } from './answer.ts'
import { type Bounded, readBounded } from './bounded-body.ts'
import type { KeepsResponses } from './record-node-response.ts'
import { changesFor } from './standing-headers.ts'

/** `standing`: headers already set on the response. `whole`: false for HEAD. */
export function toResponse(
  answer: Answer,
  { whole = true, standing }: { readonly whole?: boolean; readonly standing?: Headers } = {},
): Response {
  const { status, body } = answer
  const headers = new Headers(standing)
  const lines = (name: string): string[] => [headers.get(name)].flatMap((value) => value ?? [])
  for (const [name, values] of changesFor(answer, lines)) {
    headers.delete(name)
    for (const value of values) headers.append(name, value)
  }
  const hasBody = whole && body.length > 0 && !BODILESS.has(status)
  return new Response(hasBody ? new Uint8Array(body) : null, { status, headers })
}

/** The response with these headers added. */
export function withHeaders(response: Response, headers: Answer['headers']): Response {
  // A response that switches protocols, or `Response.error()`, cannot be copied.
  if (headers.length === 0 || response.status < 200) return response
  // A copy, because responses of `fetch` and redirects are immutable.
  const changed = new Response(response.body, response)
  for (const [name, value] of headers) changed.headers.append(name, value)
  return changed
}

/** Resolves to the response to send, once it is stored as its handler returned it. */
export async function keepResponse(
  recording: KeepsResponses,
  response: Response,
  maxBytes: number,
): Promise<Response> {
  const { status, statusText } = response
  const headers = new Headers(response.headers)
  const read = await readResponse(response, maxBytes)
  await recording.keep({ status, headers, body: read?.whole === true ? read.bytes : null })
  if (read === null || response.body === null) return response
  // A body that is whole is sent with its length, which Node's client rejects beside this header.
  if (read.whole) headers.delete('transfer-encoding')
  return new Response(read.whole ? new Uint8Array(read.bytes) : read.stream, { status, statusText, headers })
}

/** Null for an event stream, which may be endless. */
async function readResponse({ headers, body }: Response, maxBytes: number): Promise<Bounded | null> {
  if (headers.get('content-type')?.startsWith('text/event-stream') === true) return null
  if (body === null) return { whole: true, bytes: Buffer.alloc(0) }
  return readBounded(body, maxBytes)
}
