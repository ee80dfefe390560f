// The body of a Hono request. A method of `c.req` that reads it (in a validator, a logger) caches the result for later
// readers.

import { copyOfBody } from './fetch-request.ts'

/** The part of Hono's request that the middleware uses. */
export interface ReadRequest {
  readonly raw: Request
  /** What was read so far, by the name of the method. */
  readonly bodyCache?: object
  arrayBuffer(): Promise<ArrayBuffer>
}

/** The body; null when it is larger than `maxBytes`. */
export async function bodyOf(request: ReadRequest, maxBytes: number): Promise<Uint8Array | null> {
  const { raw, bodyCache = {} } = request
  const read = Object.keys(bodyCache)
  if (!raw.bodyUsed || read.length === 0) return copyOfBody(raw, maxBytes)
  const bytes = isFormOnly(read)
    ? await bytesOfForm((bodyCache as { formData: FormData | Promise<FormData> }).formData)
    : new Uint8Array(await request.arrayBuffer())
  return bytes.byteLength > maxBytes ? null : bytes
}

/** A form that Hono serializes again gets another boundary each time. */
function isFormOnly(read: readonly string[]): boolean {
  return read[0] === 'formData' && !read.includes('arrayBuffer')
}

async function bytesOfForm(form: FormData | Promise<FormData>): Promise<Uint8Array> {
  const fields = await Promise.all(
    [...(await form)].map(async ([name, value]) => [name, await textOrFile(value)]),
  )
  return Buffer.from(JSON.stringify(fields))
}

async function textOrFile(value: string | File): Promise<string | readonly string[]> {
  if (typeof value === 'string') return value
  return [value.name, value.type, Buffer.from(await value.arrayBuffer()).toString('base64')]
}
