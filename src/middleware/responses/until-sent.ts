// Decides whether a response may be shared only once its head has been sent: other middleware may have added headers to
// it, such as the cookie of a new session.

import type { ServerResponse } from 'node:http'
import type { Head, KeepsResponses } from './record-node-response.ts'
import type { HandlerResponse } from './response-recorder.ts'
import type { Closing } from './when-closed.ts'
import { type HeadWritten, headSent } from './written-head.ts'

/** The part of a Node response that is used; it may be a wrapper. */
export type SendsHead = Closing &
  Pick<ServerResponse, 'statusCode' | 'getHeader' | 'getHeaderNames'> & { writeHead(status: number): unknown }

/** The receiver of the response and its sent head. */
export interface Decides {
  keep(response: HandlerResponse, sent: Head): Promise<void>
  fail(): void
}

/** Waits for the response and the head, in either order; only the first of each is used. */
export class UntilSent implements KeepsResponses {
  readonly #decides: Decides
  #response: HandlerResponse | null = null
  #head: Head | null = null
  #isDecided = false

  constructor(decides: Decides) {
    this.#decides = decides
  }

  async keep(response: HandlerResponse): Promise<void> {
    // The headers may be readable only once.
    this.#response ??= { ...response, headers: [...response.headers] }
    await this.#decide()
  }

  headWasSent(head: Head): void {
    this.#head ??= head
    void this.#decide()
  }

  willNotBeKept(head: Head): void {
    void this.keep({ ...head, body: null })
  }

  /** No response was made. */
  fail(): void {
    this.#isDecided = true
    this.#decides.fail()
  }

  async #decide(): Promise<void> {
    if (this.#response === null || this.#head === null || this.#isDecided) return
    this.#isDecided = true
    await this.#decides.keep(this.#response, this.#head)
  }
}

/** A decision that is made once this Node response has sent its head. */
export function untilSent(decides: Decides, response: SendsHead): UntilSent {
  const until = new UntilSent(decides)
  const writeHead = response.writeHead.bind(response) as (...args: HeadWritten) => unknown
  Object.assign(response, {
    writeHead: (...args: HeadWritten) => {
      writeHead(...args)
      until.headWasSent(headSent(response, args))
      return response
    },
  })
  // Over HTTP/2 Node writes the head of a stream without calling `writeHead`.
  response.once('finish', () => until.headWasSent(headSent(response, [response.statusCode])))
  return until
}
