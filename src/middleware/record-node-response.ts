// Keeps what is written to a response of Node. Its end waits until the response has been kept, so a client
// that has the whole answer can repeat the request and gets the same one. What its handler does to it meanwhile comes too late.

import type { ServerResponse } from 'node:http'
import type { Headers } from './answer.ts'
import { freezeHead } from './frozen-head.ts'
import { pairsOf } from './node-request.ts'
import type { Outgoing } from './recording.ts'
import { isClosed, whenClosed } from './when-closed.ts'

/** What is used of a response of Node's http module. */
export type NodeResponse = Pick<
  ServerResponse,
  | 'statusCode'
  | 'statusMessage'
  | 'setHeader'
  | 'appendHeader'
  | 'getHeaders'
  | 'getHeader'
  | 'once'
  | 'write'
  | 'end'
  | 'destroy'
  | 'destroyed'
  | 'writableEnded'
>

type Written = [chunk?: unknown, encoding?: unknown, callback?: unknown]

/** What a response is told to. Its promise never rejects. */
export interface KeepsResponses {
  keep(response: Outgoing): Promise<void>
}

export function record(response: NodeResponse, recording: KeepsResponses, maxBytes: number): void {
  const body = new Collected(maxBytes)
  const write = response.write.bind(response) as (...args: Written) => boolean
  const end = response.end.bind(response) as (...args: Written) => NodeResponse
  let state: 'silent' | 'writing' | 'ended' = 'silent'
  /** By its handler, and not for its client has left. */
  let isEnded = false
  // As the handler has left them: what stands before it may add some as they are sent, such as an encoding.
  let headers: Headers | null = null
  const seeHeaders = (): Headers => (headers ??= [...pairsOf(response.getHeaders())])
  const keep = (whole: boolean): Promise<void> => {
    state = 'ended'
    const { statusCode: status } = response
    const bytes = whole && !isEventStream(response) ? body.bytes : null
    return recording.keep({ status, headers: seeHeaders(), body: bytes })
  }
  // A stream that the client no longer wants will not be ended; what it tells of has been done.
  const seeLeft = (): void => {
    if (state === 'writing') void keep(false)
  }
  const replaced = {
    write: (...args: Written): boolean => {
      if (isEnded) return false
      state = 'writing'
      seeHeaders()
      body.add(args)
      // Nothing tells that any more. What is ended in this turn is kept whole.
      if (isClosed(response)) setImmediate(seeLeft)
      return write(...args)
    },
    end: (...args: Written): NodeResponse => {
      if (state === 'ended') return response
      isEnded = true
      body.add(args)
      const kept = keep(true)
      const thaw = freezeHead(response)
      // What it throws for a chunk that cannot be sent has no caller any more.
      kept
        .then(() => {
          thaw()
          return end(...args)
        })
        .catch((error: unknown) => response.destroy(error as Error))
      return response
    },
  }
  Object.assign(response, replaced)
  whenClosed(response, seeLeft)
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

function isEventStream(response: NodeResponse): boolean {
  return String(response.getHeader('content-type')).startsWith('text/event-stream')
}
