// The body of a request of Hono. Whoever reads it by the methods of `c.req` (a validator, a logger) leaves what was read to those
// who come later.

import { copyOfBody } from './fetch-request.ts'

/** What is used of Hono's request. */
export interface ReadRequest {
  readonly raw: Request
  /** What has been read, by the methods that read it. */
  readonly bodyCache?: object
  arrayBuffer(): Promise<ArrayBuffer>
}

/** Null when it is larger. */
export async function bodyOf(request: ReadRequest, maxBytes: number): Promise<Uint8Array | null> {
  const { raw, bodyCache = {} } = request
  const read = Object.keys(bodyCache)
  if (!raw.bodyUsed || read.length === 0) return copyOfBody(raw, maxBytes)
  const bytes = isFormOnly(read)
    ? await bytesOfForm((bodyCache as { formData: FormData | Promise<FormData> }).formData)
    : new Uint8Array(await request.arrayBuffer())
  return bytes.byteLength > maxBytes ? null : bytes
}

/** Of a form as Hono would write it again, the boundary is another one each time. */
function isFormOnly(read: readonly string[]): boolean {
  return read[0] === 'formData' && !read.includes('arrayBuffer')
}

async function bytesOfForm(form: FormData | Promise<FormData>): Promise<Uint8Array> {
  const fields = await Promise.all([...(await form)].map(async ([name, value]) => [name, await told(value)]))
  return Buffer.from(JSON.stringify(fields))
}

async function told(value: string | File): Promise<string | readonly string[]> {
  if (typeof value === 'string') return value
  return [value.name, value.type, Buffer.from(await value.arrayBuffer()).toString('base64')]
}
