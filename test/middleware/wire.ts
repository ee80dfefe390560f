// A client that sees the bytes on the socket: its framing delimits a response, and the next one begins after it.

import { connect, type Socket } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { onTestFinished } from 'vitest'

export interface Asked {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** A response without its framing. */
export interface Answered {
  readonly status: number
  /** As they are spelt, one line each, sorted by name. */
  readonly lines: readonly string[]
  readonly body: string
  /** Whether it went back by gzip. */
  readonly isZipped: boolean
}

/** Headers of the framing, and headers that always differ. */
const OF_THE_WAY = /^(?:date|connection|keep-alive|content-length|transfer-encoding):/i

/**
 * Sends a request, and then one for `/after` on the same connection unless it ends or is broken off after the response.
 * Rejects when the framing of a response is wrong.
 */
export async function ask(port: number, { method, path, headers = {}, body = '' }: Asked): Promise<Answered> {
  const wire = await Wire.open(port)
  const own = Object.entries({
    Host: 'shop.example',
    'Content-Length': String(Buffer.byteLength(body)),
    ...headers,
  })
  wire.send(
    `${method} ${path} HTTP/1.1\r\n${own.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
  )
  const answered = await wire.response(method)
  if (!wire.isEnding) {
    wire.send('GET /after HTTP/1.1\r\nHost: shop.example\r\n\r\n')
    const after = await wire.response('GET').catch((error: unknown) => {
      if (wire.isSilent) return null
      throw error
    })
    if (after !== null && after.body !== 'after') throw new Error(`the next answer begins with ${after.body}`)
  }
  wire.close()
  return answered
}

class Wire {
  readonly #socket: Socket
  #bytes = Buffer.alloc(0)
  #ended = false
  #noteMore: () => void = () => undefined
  isEnding = false

  static async open(port: number): Promise<Wire> {
    const socket = connect(port, '127.0.0.1')
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    return new Wire(socket)
  }

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (bytes) => {
      this.#bytes = Buffer.concat([this.#bytes, bytes])
      this.#noteMore()
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.#ended = true
      this.#noteMore()
    })
    onTestFinished(() => this.close())
  }

  /** Whether nothing came that has not been read. */
  get isSilent(): boolean {
    return this.#bytes.length === 0
  }

  send(text: string): void {
    this.#socket.write(text)
  }

  close(): void {
    this.#socket.destroy()
  }

  async response(method: string): Promise<Answered> {
    const head = (await this.#until('\r\n\r\n')).toString('latin1').split('\r\n')
    const [first = '', ...lines] = head
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1])
    const valueOf = (name: string): string | undefined =>
      lines
        .find((line) => line.toLowerCase().startsWith(`${name}:`))
        ?.slice(name.length + 1)
        .trim()
    this.isEnding = valueOf('connection')?.toLowerCase() === 'close'
    const hasBody = method !== 'HEAD' && ![204, 304].includes(status)
    const bytes = hasBody ? await this.#body(valueOf('transfer-encoding'), valueOf('content-length')) : null
    const isZipped = valueOf('content-encoding') === 'gzip'
    return {
      status,
      lines: lines.filter((line) => !OF_THE_WAY.test(line)).toSorted(inOrder),
      body: String(isZipped && bytes !== null ? gunzipSync(bytes) : (bytes ?? '')),
      isZipped,
    }
  }

  async #body(coding: string | undefined, length: string | undefined): Promise<Buffer> {
    if (coding !== 'chunked') {
      if (length === undefined) throw new Error('neither a length nor chunks')
      return this.#take(Number(length))
    }
    const chunks: Buffer[] = []
    for (;;) {
      const size = Number.parseInt((await this.#until('\r\n')).toString(), 16)
      chunks.push(await this.#take(size))
      if (String(await this.#take(2)) !== '\r\n') throw new Error('a chunk does not end')
      if (size === 0) return Buffer.concat(chunks)
    }
  }

  async #until(mark: string): Promise<Buffer> {
    while (!this.#bytes.includes(mark)) await this.#more()
    const taken = await this.#take(this.#bytes.indexOf(mark) + mark.length)
    return taken.subarray(0, -mark.length)
  }

  async #take(size: number): Promise<Buffer> {
    while (this.#bytes.length < size) await this.#more()
    const taken = this.#bytes.subarray(0, size)
    this.#bytes = this.#bytes.subarray(size)
    return taken
  }

  async #more(): Promise<void> {
    if (this.#ended) throw new Error(`broken off behind ${JSON.stringify(this.#bytes.toString())}`)
    await new Promise<void>((resolve) => (this.#noteMore = resolve))
  }
}

/** By name; lines of one name stay in their order. */
function inOrder(one: string, other: string): number {
  const [a, b] = [one, other].map((line) => line.split(':', 1)[0]?.toLowerCase() ?? '') as [string, string]
  return a < b ? -1 : a > b ? 1 : 0
}
