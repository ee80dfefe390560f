// Stores a Fastify handler's payload, in every form that Fastify accepts, before it is sent. Changes to the reply
// during the store come too late, as they would without the middleware.

import { validateHeaderName, validateHeaderValue } from 'node:http'
import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import { isUint8Array } from 'node:util/types'
import type { Headers as Lines } from './responses/answer.ts'
import { type Bounded, readBounded } from './responses/bounded-body.ts'
import type { KeepsResponses } from './responses/record-node-response.ts'
import { isCutShort } from './responses/response-recorder.ts'
import { linesOf } from './responses/standing-headers.ts'
import type { SendsHead } from './responses/until-sent.ts'

/** The part of Fastify's reply that the middleware uses. */
export interface FastifyReplyLike {
  readonly statusCode: number
  /** Also true when Fastify ignores the reply from now on. */
  readonly sent: boolean
  readonly raw: SendsHead & { removeHeader(name: string): unknown }
  getHeaders(): Record<string, number | string | string[] | undefined>
  code(status: number): unknown
  header(name: string, value: string | string[]): unknown
  removeHeader(name: string): unknown
  send(payload: unknown): unknown
}

/** Requests whose handlers are running. Only the first answer of each is stored. */
export class Sendings<Request extends object, Begun> {
  readonly #begun = new WeakMap<Request, Begun>()
  readonly #keeping = new WeakSet<Request>()

  begin(request: Request, begun: Begun): void {
    this.#begun.set(request, begun)
  }

  /**
   * Resolves to the payload to send; never settles while another payload of this request is being stored. Null: send
   * the payload as it is, and at once, because later changes of the handler would come too late.
   */
  send(
    request: Request,
    payload: unknown,
    keep: (begun: Begun) => Promise<unknown>,
  ): Promise<unknown> | null {
    // Fastify regards an answer as sent only once it is.
    if (this.#keeping.has(request)) return new Promise<never>(() => undefined)
    const begun = this.#begun.get(request)
    // Also null when a stored payload could not be sent: the answer to that failure is another one.
    if (begun === undefined) return null
    // Fastify throws on an unsupported payload, unless a later hook converts it. Then another answer follows, or none.
    if (!isSendable(payload)) return null
    this.#begun.delete(request)
    this.#keeping.add(request)
    return keep(begun).finally(() => this.#keeping.delete(request))
  }

  /** No answer will come, or it was sent in a form that the middleware could not see. */
  end(request: Request, task: (begun: Begun) => void): void {
    const begun = this.#begun.get(request)
    this.#begun.delete(request)
    if (begun !== undefined) task(begun)
  }
}

interface Head {
  readonly status: number
  readonly headers: ReadonlyMap<string, readonly string[]>
}

/**
 * Resolves to the payload to send; a stream that was read is replaced by a new one. Rejects when the stream cannot be
 * read.
 */
export async function keepSent(
  recording: KeepsResponses,
  reply: FastifyReplyLike,
  payload: unknown,
  maxBytes: number,
): Promise<unknown> {
  const sent = headOf(reply)
  checkHead(sent)
  const { status, headers } = isResponse(payload) ? overlaid(sent, payload) : sent
  const isEndless = headers.get('content-type')?.[0]?.startsWith('text/event-stream') === true
  const [body, passedOn] = isEndless ? [null, payload] : await read(payload, maxBytes)
  const lines: Lines = [...headers].flatMap(([name, values]) => values.map((value) => [name, value] as const))
  // For a payload that is no stream, Fastify declares the length itself and ignores any declared one.
  const declared = isStream(payload) ? lines : lines.filter(([name]) => name !== 'content-length')
  const response = { status, headers: declared, body }
  await recording.keep(response)
  putBack(reply, sent)
  // A body that is whole is sent with its length, which Node's client rejects beside this header. Removing it where it is
  // not set would keep Node from sending chunks for a later hook that compresses.
  if (!isStream(passedOn) && sent.headers.has('transfer-encoding')) removeHeader(reply, 'transfer-encoding')
  return isCutShort(response) && !isResponse(passedOn) ? Readable.from([body]) : passedOn
}

/** Throws what Node would throw when it writes the head. By then it would be too late: the response would be stored. */
function checkHead({ headers }: Head): void {
  for (const [name, lines] of headers) {
    validateHeaderName(name)
    for (const line of lines) validateHeaderValue(name, line)
  }
}

/** Removes the header, whether a hook set it on the reply or a plugin on Node's response. */
export function removeHeader(reply: FastifyReplyLike, name: string): void {
  reply.removeHeader(name)
  reply.raw.removeHeader(name)
}

function headOf(reply: FastifyReplyLike): Head {
  const headers = Object.entries(reply.getHeaders()).map(([name, value]) => [name, linesOf(value)] as const)
  return { status: reply.statusCode, headers: new Map(headers) }
}

/** Merges as Fastify will: a fetch Response replaces headers that are set already, except cookies. */
function overlaid({ headers }: Head, { status, headers: own }: Response): Head {
  const all = new Map(headers)
  for (const [name, value] of own) if (name !== 'set-cookie') all.set(name, [value])
  const cookies = [...(headers.get('set-cookie') ?? []), ...own.getSetCookie()]
  if (cookies.length > 0) all.set('set-cookie', cookies)
  return { status, headers: all }
}

function putBack(reply: FastifyReplyLike, { status, headers }: Head): void {
  const now = headOf(reply)
  if (now.status !== status) reply.code(status)
  for (const name of new Set([...headers.keys(), ...now.headers.keys()])) {
    const lines = headers.get(name)
    if (String(lines) === String(now.headers.get(name))) continue
    removeHeader(reply, name)
    if (lines !== undefined) reply.header(name, lines.length === 1 ? lines.join() : [...lines])
  }
}

/** The bytes to store, or null, and the payload to send in place of one that was read. */
async function read(payload: unknown, maxBytes: number): Promise<[Uint8Array | null, unknown]> {
  if (isResponse(payload)) {
    const { body, status, statusText, headers } = payload
    if (body === null) return [new Uint8Array(), payload]
    const bounded = await readBounded(body, maxBytes)
    const again = bounded.whole ? new Uint8Array(bounded.bytes) : bounded.stream
    return [bytesOf(bounded), new Response(again, { status, statusText, headers })]
  }
  if (isWebStream(payload)) {
    const bounded = await readBounded(payload, maxBytes)
    return [bytesOf(bounded), bounded.whole ? bounded.bytes : bounded.stream]
  }
  if (isPipe(payload)) {
    const readable = payload instanceof Readable ? payload : new Readable().wrap(payload)
    const bounded = await readBounded(Readable.toWeb(readable) as ReadableStream<Uint8Array>, maxBytes)
    if (bounded.whole) return [bounded.bytes, bounded.bytes]
    return [null, Readable.fromWeb(bounded.stream as NodeReadableStream)]
  }
  const bytes = toBytes(payload)
  const passedOn = isUint8Array(payload) ? bytes : payload
  return [bytes !== null && bytes.byteLength <= maxBytes ? bytes : null, passedOn]
}

function isSendable(payload: unknown): boolean {
  return isStream(payload) || toBytes(payload) !== null
}

function isStream(payload: unknown): boolean {
  return isResponse(payload) || isWebStream(payload) || isPipe(payload)
}

function bytesOf(bounded: Bounded): Buffer | null {
  return bounded.whole ? bounded.bytes : null
}

/** Recognizes responses of any library, in the way Fastify does. */
function isResponse(payload: unknown): payload is Response {
  return Object.prototype.toString.call(payload) === '[object Response]'
}

function isWebStream(payload: unknown): payload is ReadableStream<Uint8Array> {
  return typeof payload === 'object' && payload !== null && 'getReader' in payload
}

function isPipe(payload: unknown): payload is NodeJS.ReadableStream {
  return typeof payload === 'object' && payload !== null && 'pipe' in payload
}

/** A copy: by the time that they are sent, the handler may have written other bytes into its buffer. */
function toBytes(payload: unknown): Uint8Array | null {
  if (payload === undefined || payload === null) return new Uint8Array()
  if (typeof payload === 'string') return Buffer.from(payload)
  return isUint8Array(payload) ? Buffer.from(payload) : null
}
