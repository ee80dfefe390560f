// Stores what is written to a Node response. The end of the response waits until it is stored. A client that has the
// whole answer can therefore repeat the request and get the same one. Changes by the handler during the store come too
// late.
//
//   silent ──piped to, written──► writing ──ended──► ended: stored as it is, then sent
//     ▲ │                            └──client disconnected, or pipe closed──► ended: stored as done, without a body
//     └─┘ Node rejects a write: its caller gets the error and can answer something else

import type { ServerResponse } from 'node:http'
import { isUint8Array } from 'node:util/types'
import type { Headers } from './answer.ts'
import { Collected, toBytes } from './collected.ts'
import { freezeHead } from './frozen-head.ts'
import { type BreakingOff, type HeldConnection, holdOpen } from './held-open.ts'
import type { HandlerResponse } from './response-recorder.ts'
import { isClosed, whenClosed } from './when-closed.ts'
import { type HeadWritten, headersOf, headSent, isReason, isStatus, noteHeaders } from './written-head.ts'

/** The part of a response of Node's http module that is used. */
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
  /** Exists in HTTP/1 only. */
  getRawHeaderNames?(): string[]
  /** Whether Node rejects a body whose length differs from the declared one. */
  readonly strictContentLength?: boolean
}

type Written = [chunk?: unknown, encoding?: unknown, callback?: unknown]

/** Receives the response. Its promise never rejects. */
export interface KeepsResponses {
  keep(response: HandlerResponse): Promise<void>
  /** Called once the head has been sent, including headers of other middleware. */
  headWasSent?(head: Head): void
  /** Called as soon as it is known that the body will not be stored; `keep` follows at the end of the response. */
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
  // When the client disconnects, a pipe to the response is closed, and no more writes follow.
  response.once('pipe', () => recorder.startWriting())
  whenClosed(response, () => recorder.seeLeft())
  // Over HTTP/2 Node writes the head without calling `writeHead`.
  response.once('finish', () => recorder.reportHead([response.statusCode]))
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
  /** Ended by its handler, not by a disconnected client. */
  #isEnded = false
  /** Stored, and being sent now: over HTTP/2 Node calls `write` for the last chunk. */
  #goesOut = false
  // The head as the handler set it: earlier middleware may add headers during sending, such as an encoding.
  #head: Head | null = null
  /** While later middleware sets its headers; nothing is sent yet. */
  #collectsHeaders = false
  #wasKeepable = true

  constructor(response: NodeResponse, recording: KeepsResponses, maxBytes: number) {
    this.#response = response
    this.#recording = recording
    this.#body = new Collected(maxBytes)
    this.#writeHead = response.writeHead.bind(response) as (...args: HeadWritten) => NodeResponse
    this.#write = response.write.bind(response) as (...args: Written) => boolean
    this.#end = response.end.bind(response) as (...args: Written) => NodeResponse
  }

  /** Node itself calls this when the head was not written; Node rejects invalid values. */
  #takeHead(args: HeadWritten): NodeResponse {
    const response = this.#response
    const status = Number(args[0])
    if (this.#collectsHeaders) return this.#noteSpoken(args, status)
    if (response.headersSent || !isStatus(status)) return this.#writeHead(...args)
    const rest = this.#head === null ? noteHeaders(response, args) : args
    this.#head ??= { status, headers: headersOf(response) }
    this.#trying(() => this.#writeHead(...rest))
    this.reportHead(rest)
    return response
  }

  reportHead(args: HeadWritten): void {
    this.#recording.headWasSent?.(headSent(this.#response, args))
  }

  write(args: Written): boolean {
    if (this.#goesOut) return this.#write(...args)
    if (this.#isEnded) {
      const late = Object.assign(new Error('write after end'), { code: 'ERR_STREAM_WRITE_AFTER_END' })
      callbackOf(args)?.(late)
      return false
    }
    this.#seeHead()
    // The handler does not wait for this client, and may fill its buffer again.
    const own = this.#body.isTooLarge ? args : ownOf(args)
    const taken = this.#trying(() => this.#write(...own))
    this.#body.add(own)
    this.startWriting()
    // Collected bytes do not wait for this client: other requests may wait for the response.
    return this.#isKeepable() || taken
  }

  end(args: Written): NodeResponse {
    const response = this.#response
    if (this.#state === 'ended') {
      // As Node does for a second end.
      const callback = callbackOf(args)
      if (callback !== undefined) whenClosed(response, () => callback())
      return response
    }
    this.#seeHead()
    if (isRefused(response, args, this.#body.size)) {
      // If Node accepts it nevertheless, the sent bytes are unknown.
      const ended = this.#trying(() => this.#end(...args))
      this.startWriting()
      return ended
    }
    this.#isEnded = true
    // The handler may write into its buffer before the response has been stored.
    const sent = ownOf(args)
    this.#body.add(sent)
    const kept = this.#keep(true)
    const thaw = freeze(response)
    // An error for a chunk that cannot be sent no longer has a caller.
    kept.then(() => this.#send(sent, thaw())).catch((error: unknown) => response.destroy(error as Error))
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
    // Node has ended the connection of a disconnected client: `finish` will not be emitted.
    if (!isOpen()) breakOff?.()
  }

  startWriting(): void {
    if (this.#state === 'silent') this.#state = 'writing'
    // No event follows for a closed response. A response that is ended in this turn is stored whole.
    if (isClosed(this.#response)) setImmediate(() => this.seeLeft())
  }

  /** The client disconnected, so the stream will not be ended. The work of the handler is done. */
  seeLeft(): void {
    if (this.#state === 'writing') void this.#keep(false)
  }

  #seeHead(): Head {
    if (this.#head !== null) return this.#head
    const response = this.#response
    if (response.writeHead !== (this.ownWriteHead as unknown) && !response.headersSent)
      this.#collectLateHeaders()
    return (this.#head ??= { status: response.statusCode, headers: headersOf(response) })
  }

  /** Later middleware that sets headers while the head is written (a session cookie) sets them now, and only once. */
  #collectLateHeaders(): void {
    const response = this.#response
    const spoken = response.writeHead as unknown
    this.#collectsHeaders = true
    try {
      response.writeHead(response.statusCode)
    } finally {
      this.#collectsHeaders = false
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

  /** When Node rejected the arguments, nothing was sent, and another head may follow. */
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

/** Whether Node throws on this end at once, before anything is stored. `written`: bytes written before. */
function isRefused(response: NodeResponse, [chunk, encoding]: Written, written: number): boolean {
  const isChunk = chunk === undefined || chunk === null || typeof chunk === 'function' || isBytes(chunk)
  if (!isChunk) return true
  const length = response.strictContentLength === true ? response.getHeader('content-length') : undefined
  if (length !== undefined && Number(length) !== written + toBytes(chunk, encoding).byteLength) return true
  return !response.headersSent && !(isStatus(response.statusCode) && isReason(response.statusMessage))
}

/** With a copy of the bytes of the handler. */
function ownOf(args: Written): Written {
  const [chunk, ...rest] = args
  return isUint8Array(chunk) ? [Buffer.from(chunk), ...rest] : args
}

/** Called in a later turn, as Node does. */
function callbackOf(args: Written): ((error?: Error) => void) | undefined {
  const callback = args.find((arg) => typeof arg === 'function') as ((error?: Error) => void) | undefined
  return callback && ((error) => process.nextTick(callback, error))
}

function isBytes(chunk: unknown): chunk is string | Uint8Array {
  return typeof chunk === 'string' || isUint8Array(chunk)
}

/** The state of a response after it was stored. */
interface Thawed {
  /** Destroys the connection, if that was requested in the meantime. */
  readonly breakOff: BreakingOff
  /** Whether the connection can still send. */
  isOpen(): boolean
}

/** Blocks changes of the response, and keeps its connection open, until the returned function is called. */
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
