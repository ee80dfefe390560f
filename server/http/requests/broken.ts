// Input that is not HTTP, or does not arrive in time. It is answered after the requests before it on the same
// connection: an error in the place of their answers would deny requests that were carried out.

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly over: Promise<void>
}

type BrokenError = Error & { readonly code?: string }

/** Time for the client to read the last answer. */
const LINGER_MS = 2000

const PROBLEMS: Readonly<Record<string, readonly [status: number, detail: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive completely in time.'],
  HPE_HEADER_OVERFLOW: [431, 'The header fields of the request are too large.'],
  CONNECT: [400, 'This service is not a proxy.'],
}
/** Node's error for a request that does not arrive completely. */
export const TOO_LATE: BrokenError = Object.assign(new Error('too late'), {
  code: 'ERR_HTTP_REQUEST_TIMEOUT',
} as const)
/** A client uses the service as a proxy. */
const NO_PROXY: BrokenError = Object.assign(new Error('no proxy'), { code: 'CONNECT' } as const)
const NO_HTTP = [400, 'This is not an HTTP request.'] as const

export class BrokenRequests {
  readonly #open = new WeakMap<Socket, Set<Exchange>>()
  readonly #answered = new WeakSet<Socket>()

  /** To be called before the server listens. */
  watch(server: Server): void {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const exchanges = this.#open.get(request.socket) ?? new Set()
      this.#open.set(request.socket, exchanges)
      const over = new Promise<void>((resolve) => response.once('close', resolve))
      const exchange = { request, response, over }
      exchanges.add(exchange)
      void over.then(() => exchanges.delete(exchange))
    })
    // Node would end the connection, and the answers before it.
    server.on('connect', (_request, socket: Socket) => this.answer(NO_PROXY, socket))
  }

  /** The listener of `clientError`. */
  answer(error: BrokenError, socket: Socket): void {
    if (this.#answered.has(socket)) return
    this.#answered.add(socket)
    if (error.code === 'ECONNRESET' || socket.destroyed) socket.destroy()
    else void this.#answerBehind(error, socket)
  }

  async #answerBehind({ code = '' }: BrokenError, socket: Socket): Promise<void> {
    const exchanges = [...(this.#open.get(socket) ?? [])]
    // A request that breaks off in its body never completes: it is the one answered here.
    const whole = exchanges.filter(({ request }) => request.complete)
    await Promise.all(whole.map(({ over }) => over))
    const isAnswered = exchanges.some(({ request, response }) => !request.complete && response.headersSent)
    if (socket.destroyed) return
    socket.end(isAnswered || !socket.writable ? '' : textOf(PROBLEMS[code] ?? NO_HTTP))
    // Further input is discarded, because unread bytes would reset the connection.
    const lingering = setTimeout(() => socket.destroy(), LINGER_MS)
    socket.once('close', () => clearTimeout(lingering))
  }
}

/** The intended API is unknown: the text is a problem document and an error of /v2 in one. */
function textOf([status, detail]: readonly [status: number, detail: string]): string {
  const title = STATUS_CODES[status] ?? ''
  const code = 'invalid-http'
  const problem = { type: `urn:perilune:problem:${code}`, title, status, detail, code, description: detail }
  const body = JSON.stringify(problem)
  const lines = [
    `HTTP/1.1 ${status} ${title}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}
