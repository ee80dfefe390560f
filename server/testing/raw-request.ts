// Requests byte for byte, as no HTTP client would send them.

import { connect, type Socket } from 'node:net'

export interface RawRequest {
  readonly method?: string
  readonly path: string
  /** Header lines as they are sent. */
  readonly headers?: readonly string[]
  readonly body?: string | Uint8Array
  /** Value of Content-Length. Default: the length of the body. */
  readonly length?: number
}

/** Connects, and sends nothing yet. Errors of the connection are ignored. */
export function openSocket(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => resolve(socket.on('error', () => undefined)))
    socket.once('error', reject)
  })
}

/** The status of the answer; 0 if the connection ends without one. */
export async function statusOf(url: string, request: RawRequest): Promise<number> {
  const socket = await openSocket(url)
  try {
    send(socket, request)
    return await readStatus(socket)
  } finally {
    socket.destroy()
  }
}

export function send(socket: Socket, { method = 'GET', path, headers = [], body, length }: RawRequest): void {
  const size = length ?? (body === undefined ? 0 : Buffer.byteLength(body))
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: localhost',
    ...headers,
    ...(size === 0 ? [] : [`Content-Length: ${size}`]),
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  if (body !== undefined) socket.write(body)
}

export function readStatus(socket: Socket): Promise<number> {
  return new Promise((resolve) => {
    let text = ''
    socket.on('data', (chunk) => {
      text += String(chunk)
      const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(text) ?? []
      if (status !== undefined) resolve(Number(status))
    })
    if (socket.destroyed) resolve(0)
    socket.once('close', () => resolve(0))
  })
}
