// A subscriber for tests: a server on a free loopback port that keeps the letters that it receives.

import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into letters of any shape
  readonly json: any
}

export interface Receiver extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly received: readonly Received[]
  /** Resolves to the first `count` letters that pass `accept`, once they have arrived. */
  wait(count: number, accept?: (letter: Received) => boolean): Promise<Received[]>
}

/** `answer` replaces 200; its argument is the number of letters received before. */
export async function startReceiver(
  answer: (response: ServerResponse, before: number, letter: Received) => void = (response) =>
    response.end('ok'),
): Promise<Receiver> {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      const letter = { path: request.url ?? '', headers: request.headers, text, json: parse(text) }
      answer(response, received.push(letter) - 1, letter)
      server.emit('letter')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received,
    async wait(count, accept = () => true) {
      while (received.filter(accept).length < count) await once(server, 'letter')
      return received.filter(accept).slice(0, count)
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
    },
  }
}

export const isNotification = ({ json }: Received): boolean => json?.Message_Type === 'Notification'

export const isConfirmation = ({ json }: Received): boolean =>
  json?.Message_Type === 'SubscriptionConfirmation'

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
