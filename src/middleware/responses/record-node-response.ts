// Keeps what is written to a response of Node. Its end waits until the response has been kept, so a client
// that has the whole answer can repeat the request and gets the same one. What its handler does to it meanwhile comes too late.
//
//   silent ──piped to, written──► writing ──ended──► ended: kept as it is, then sent
//     ▲ │                            └──its client left, or the pipe has none──► ended: kept as one that was carried out
//     └─┘ Node refuses what is written: whoever wrote is told, and answers something else

import type { ServerResponse } from 'node:http'
import type { Headers } from './answer.ts'
import { Collected, toBytes } from './collected.ts'
import { freezeHead } from './frozen-head.ts'
import { type BreakingOff, type HeldConnection, holdOpen } from './held-open.ts'
import type { HandlerResponse } from './response-recorder.ts'
import { isClosed, whenClosed } from './when-closed.ts'
import { type HeadWritten, headersOf, headSent, isReason, isStatus, noteHeaders } from './written-head.ts'

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
  readonly socket: HeldConnection | null
  /** Only of HTTP/1. */
  getRawHeaderNames?(): string[]
  /** Whether Node refuses a body of another length than its head says. */
  readonly strictContentLength?: boolean
}

type Written = [chunk?: unknown, encoding?: unknown, callback?: unknown]

/** What a response is told to. Its promise never rejects. */
export interface KeepsResponses {
  keep(response: HandlerResponse): Promise<void>
  /** Told of the head once it has been sent, with what stands around added. */
  headWasSent?(head: Head): void
  /** Told as soon as it is known that the body will not be kept; `keep` follows at its end. */
  willNotBeKept?(head: Head): void
}

export interface Head {
  readonly status: number
  readonly headers: Headers
}

export function record(response: NodeResponse, recording: KeepsResponses, maxBytes: number): void {
  const recorder = new Recorder(response, recording, maxBytes)
  Object.assign(response, {
    writeHead: recorder.ownWriteHead,
    write: (...args: Written): boolean => recorder.write(args),
    end: (...args: Written): NodeResponse => recorder.end(args),
  })
  // A pipe to a response whose client leaves is cut, and nobody writes to it any more.
  response.once('pipe', () => recorder.startWriting())
  whenClosed(response, () => recorder.seeLeft())
  // Over HTTP/2 Node writes the head without a word.
  response.once('finish', () => recorder.tellHead([response.statusCode]))
}

class Recorder {
  readonly ownWriteHead: (...args: HeadWritten) => NodeResponse = (...args) => this.#takeHead(args)
  readonly #response: NodeResponse
  readonly #recording: KeepsResponses
  readonly #body: Collected
  readonly #writeHead: (...args: HeadWritten) => NodeResponse
  readonly #write: (...args: Written) => boolean
  readonly #end: (...args: Written) => NodeResponse
  #state: 'silent' | 'writing' | 'ended' = 'silent'
  /** By its handler, and not for its client has left. */
  #isEnded = false
  /** It is kept, and goes out just now: over HTTP/2 Node writes the last chunk by `write`. */
  #goesOut = false
  // As the handler has left it: what stands before it may add some headers as they are sent, such as an encoding.
  #head: Head | null = null
  /** What stands behind says its headers: nothing is sent yet. */
  #listens = false
  #wasKeepable = true

  constructor(response: NodeResponse, recording: KeepsResponses, maxBytes: number) {
    this.#response = response
    this.#recording = recording
    this.#body = new Collected(maxBytes)
    this.#writeHead = response.writeHead.bind(response) as (...args: HeadWritten) => NodeResponse
    this.#write = response.write.bind(response) as (...args: Written) => boolean
    this.#end = response.end.bind(response) as (...args: Written) => NodeResponse
  }

  /** Node itself comes here when the head has not been written; what is wrong it refuses. */
  #takeHead(args: HeadWritten): NodeResponse {
    const response = this.#response
    const status = Number(args[0])
    if (this.#listens) return this.#noteSpoken(args, status)
    if (response.headersSent || !isStatus(status)) return this.#writeHead(...args)
    const rest = this.#head === null ? noteHeaders(response, args) : args
    this.#head ??= { status, headers: headersOf(response) }
    this.#trying(() => this.#writeHead(...rest))
    this.tellHead(rest)
    return response
  }

  tellHead(args: HeadWritten): void {
    this.#recording.headWasSent?.(headSent(this.#response, args))
  }

  write(args: Written): boolean {
    if (this.#goesOut) return this.#write(...args)
    if (this.#isEnded) return false
    this.#seeHead()
    const taken = this.#trying(() => this.#write(...args))
    this.#body.add(args)
    this.startWriting()
    // What is collected anyway does not wait for its client: others may wait for it.
    return this.#isKeepable() || taken
  }

  end(args: Written): NodeResponse {
    const response = this.#response
    if (this.#state === 'ended') return response
    this.#seeHead()
    if (isRefused(response, args, this.#body.size)) {
      // Where it is taken all the same, nobody knows what was sent.
      const ended = this.#trying(() => this.#end(...args))
      this.startWriting()
      return ended
    }
    this.#isEnded = true
    this.#body.add(args)
    const kept = this.#keep(true)
    const thaw = freeze(response)
    // What it throws for a chunk that cannot be sent has no caller any more.
    kept.then(() => this.#send(args, thaw())).catch((error: unknown) => response.destroy(error as Error))
    return response
  }

  #send(args: Written, { breakOff, isOpen }: Thawed): void {
    if (breakOff !== null) this.#response.once('finish', breakOff)
    this.#goesOut = true
    try {
      this.#end(...args)
    } finally {
      this.#goesOut = false
    }
    // Node has ended the connection of a client that left: nothing finishes on it.
    if (!isOpen()) breakOff?.()
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

  #seeHead(): Head {
    if (this.#head !== null) return this.#head
    const response = this.#response
    if (response.writeHead !== (this.ownWriteHead as unknown) && !response.headersSent) this.#letSpeak()
    return (this.#head ??= { status: response.statusCode, headers: headersOf(response) })
  }

  /** What stands behind and says its headers as the head is written (a cookie of a session) says them now, and once. */
  #letSpeak(): void {
    const response = this.#response
    const spoken = response.writeHead as unknown
    this.#listens = true
    try {
      response.writeHead(response.statusCode)
    } finally {
      this.#listens = false
    }
    if ((response.writeHead as unknown) === spoken) Object.assign(response, { writeHead: this.ownWriteHead })
  }

  #noteSpoken(args: HeadWritten, status: number): NodeResponse {
    const response = this.#response
    const [, message] = noteHeaders(response, args)
    response.statusCode = status
    if (typeof message === 'string') response.statusMessage = message
    return response
  }

  /** Where Node has refused what it was given, nothing has been said, and another head may come. */
  #trying<Result>(send: () => Result): Result {
    try {
      return send()
    } catch (error) {
      if (this.#response.headersSent) this.startWriting()
      else this.#head = null
      throw error
    }
  }

  #isKeepable(): boolean {
    const head = this.#seeHead()
    const isKeepable = !this.#body.isTooLarge && !isEventStream(head.headers)
    if (!isKeepable && this.#wasKeepable) this.#recording.willNotBeKept?.(head)
    this.#wasKeepable &&= isKeepable
    return isKeepable
  }

  #keep(whole: boolean): Promise<void> {
    this.#state = 'ended'
    const { status, headers } = this.#seeHead()
    const body = whole && !isEventStream(headers) ? this.#body.bytes : null
    return this.#recording.keep({ status, headers, body })
  }
}

/** What Node throws at: it does so at once, before anything is kept. `written`: bytes before. */
function isRefused(response: NodeResponse, [chunk, encoding]: Written, written: number): boolean {
  const isChunk = chunk === undefined || chunk === null || typeof chunk === 'function' || isBytes(chunk)
  if (!isChunk) return true
  const length = response.strictContentLength === true ? response.getHeader('content-length') : undefined
  if (length !== undefined && Number(length) !== written + toBytes(chunk, encoding).byteLength) return true
  return !response.headersSent && !(isStatus(response.statusCode) && isReason(response.statusMessage))
}

function isBytes(chunk: unknown): chunk is string | Uint8Array {
  return typeof chunk === 'string' || chunk instanceof Uint8Array
}

/** How a response is left that has been kept. */
interface Thawed {
  /** Breaks its connection off, as somebody wanted meanwhile. */
  readonly breakOff: BreakingOff
  /** Whether anything can be sent on its connection. */
  isOpen(): boolean
}

/** Nothing changes the response, and its connection stays, until the function is called that is answered. */
function freeze(response: NodeResponse): () => Thawed {
  const { socket } = response
  const letGo = socket === null ? null : holdOpen(socket)
  const thaw = freezeHead(response, (error) => void socket?.destroy(error))
  return () => {
    thaw()
    return { breakOff: letGo?.() ?? null, isOpen: () => socket?.writable !== false }
  }
}

function isEventStream(headers: Headers): boolean {
  return headers.some(
    ([name, value]) => name.toLowerCase() === 'content-type' && value.startsWith('text/event-stream'),
  )
}
