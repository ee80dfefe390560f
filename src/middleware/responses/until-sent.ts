// A response for all is decided on once its head has been sent: what stands around may have said more of it than its handler did, such
// as a cookie of a session that begins with it.

import type { ServerResponse } from 'node:http'
import type { Head, KeepsResponses } from './record-node-response.ts'
import type { HandlerResponse } from './response-recorder.ts'
import type { Closing } from './when-closed.ts'
import { type HeadWritten, headSent } from './written-head.ts'

/** What is used of a response of Node, whoever has made it. */
export type SendsHead = Closing &
  Pick<ServerResponse, 'statusCode' | 'getHeader' | 'getHeaderNames'> & { writeHead(status: number): unknown }

/** What decides. */
export interface Decides {
  keep(response: HandlerResponse, sent: Head): Promise<void>
  fail(): void
}

/** Waits for both, in whatever order they come; the first of each counts. */
export class UntilSent implements KeepsResponses {
  readonly #decides: Decides
  #response: HandlerResponse | null = null
  #head: Head | null = null
  #isDecided = false

  constructor(decides: Decides) {
    this.#decides = decides
  }

  async keep(response: HandlerResponse): Promise<void> {
    // Its headers may be there to be read once.
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

  /** There is no response. */
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

/** What is decided on once this response of Node has sent its head. */
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
  // Over HTTP/2 Node writes the head of a stream without a word.
  response.once('finish', () => until.headWasSent(headSent(response, [response.statusCode])))
  return until
}
