// Keeps what is written to a response of Node. Its end waits until the response has been kept, so a client
// that has the whole answer can repeat the request and gets the same one. What its handler does to it meanwhile comes too late.
//
//   silent ──piped to, written──► writing ──ended──► ended: kept as it is, then sent
//                                    └──its client left, or the pipe has none──► ended: kept as one that was carried out

import type { ServerResponse } from 'node:http'
import type { Headers } from './answer.ts'
import { freezeHead } from './frozen-head.ts'
import { type Connection, holdOpen } from './held-open.ts'
import type { Outgoing } from './recording.ts'
import { isClosed, whenClosed } from './when-closed.ts'
import { type HeadWritten, headersOf, noteHeaders } from './written-head.ts'

/** What is used of a response of Node's http module. */
export type NodeResponse = Pick<
  ServerResponse,
  | 'statusCode'
  | 'statusMessage'
  | 'headersSent'
  | 'setHeader'
  | 'removeHeader'
  | 'getHeader'
  | 'getHeaderNames'
  | 'once'
  | 'writeHead'
  | 'write'
  | 'end'
  | 'destroy'
  | 'destroyed'
  | 'writableEnded'
> & {
  readonly socket: Connection | null
  /** Only of HTTP/1. */
  getRawHeaderNames?(): string[]
}

type Written = [chunk?: unknown, encoding?: unknown, callback?: unknown]

/** What a response is told to. Its promise never rejects. */
export interface KeepsResponses {
  keep(response: Outgoing): Promise<void>
}

export function record(response: NodeResponse, recording: KeepsResponses, maxBytes: number): void {
  const recorder = new Recorder(response, recording, maxBytes)
  Object.assign(response, {
    writeHead: (...args: HeadWritten): NodeResponse => recorder.writeHead(args),
    write: (...args: Written): boolean => recorder.write(args),
    end: (...args: Written): NodeResponse => recorder.end(args),
  })
  // A pipe to a response whose client leaves is cut, and nobody writes to it any more.
  response.once('pipe', () => recorder.startWriting())
  whenClosed(response, () => recorder.seeLeft())
}

class Recorder {
  readonly #response: NodeResponse
  readonly #recording: KeepsResponses
  readonly #body: Collected
  readonly #writeHead: (...args: HeadWritten) => NodeResponse
  readonly #write: (...args: Written) => boolean
  readonly #end: (...args: Written) => NodeResponse
  #state: 'silent' | 'writing' | 'ended' = 'silent'
  /** By its handler, and not for its client has left. */
  #isEnded = false
  // As the handler has left it: what stands before it may add some headers as they are sent, such as an encoding.
  #head: Head | null = null

  constructor(response: NodeResponse, recording: KeepsResponses, maxBytes: number) {
    this.#response = response
    this.#recording = recording
    this.#body = new Collected(maxBytes)
    this.#writeHead = response.writeHead.bind(response) as (...args: HeadWritten) => NodeResponse
    this.#write = response.write.bind(response) as (...args: Written) => boolean
    this.#end = response.end.bind(response) as (...args: Written) => NodeResponse
  }

  /** Node itself comes here when the head has not been written; what is wrong it refuses. */
  writeHead(args: HeadWritten): NodeResponse {
    const status = Number(args[0])
    const isOver = this.#head !== null || this.#response.headersSent
    if (isOver || !isStatus(status)) return this.#writeHead(...args)
    const rest = noteHeaders(this.#response, args)
    this.#seeHead(status)
    return this.#writeHead(...rest)
  }

  write(args: Written): boolean {
    if (this.#isEnded) return false
    this.#seeHead()
    this.#body.add(args)
    this.startWriting()
    return this.#write(...args)
  }

  end(args: Written): NodeResponse {
    const response = this.#response
    if (this.#state === 'ended') return response
    this.#isEnded = true
    this.#body.add(args)
    const kept = this.#keep(true)
    const thaw = freeze(response)
    // What it throws for a chunk that cannot be sent has no caller any more.
    kept
      .then(() => {
        const breakOff = thaw()
        if (breakOff !== null) response.once('finish', breakOff)
        return this.#end(...args)
      })
      .catch((error: unknown) => response.destroy(error as Error))
    return response
  }

  startWriting(): void {
    if (this.#state === 'silent') this.#state = 'writing'
    // Nothing tells that any more. What is ended in this turn is kept whole.
    if (isClosed(this.#response)) setImmediate(() => this.seeLeft())
  }

  /** A stream that the client no longer wants will not be ended; what it tells of has been done. */
  seeLeft(): void {
    if (this.#state === 'writing') void this.#keep(false)
  }

  #seeHead(status = this.#response.statusCode): Head {
    return (this.#head ??= { status, headers: headersOf(this.#response) })
  }

  #keep(whole: boolean): Promise<void> {
    this.#state = 'ended'
    const { status, headers } = this.#seeHead()
    const body = whole && !isEventStream(headers) ? this.#body.bytes : null
    return this.#recording.keep({ status, headers, body })
  }
}

interface Head {
  readonly status: number
  readonly headers: Headers
}

/** Nothing changes the response, and its connection stays, until the function is called that is answered. */
function freeze(response: NodeResponse): () => (() => void) | null {
  const { socket } = response
  const letGo = socket === null ? null : holdOpen(socket)
  const thaw = freezeHead(response, (error) => void socket?.destroy(error))
  return () => {
    thaw()
    return letGo?.() ?? null
  }
}

/** What was written so far, up to a size. */
class Collected {
  readonly #maxBytes: number
  readonly #chunks: Uint8Array[] = []
  #size = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Null when it is too large. */
  get bytes(): Buffer | null {
    return this.#size > this.#maxBytes ? null : Buffer.concat(this.#chunks)
  }

  add([chunk, encoding]: Written): void {
    const bytes = toBytes(chunk, encoding)
    this.#size += bytes.byteLength
    if (this.#size <= this.#maxBytes) this.#chunks.push(bytes)
  }
}

/** A chunk as `write` and `end` take it; a callback in its place is none. */
function toBytes(chunk: unknown, encoding: unknown): Uint8Array {
  if (typeof chunk === 'string') {
    return Buffer.from(chunk, typeof encoding === 'string' ? (encoding as BufferEncoding) : 'utf8')
  }
  return chunk instanceof Uint8Array ? chunk : new Uint8Array()
}

function isStatus(status: number): boolean {
  return Number.isInteger(status) && status >= 100 && status <= 999
}

function isEventStream(headers: Headers): boolean {
  return headers.some(
    ([name, value]) => name.toLowerCase() === 'content-type' && value.startsWith('text/event-stream'),
  )
}
