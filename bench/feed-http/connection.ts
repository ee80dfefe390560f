// One kept-alive HTTP/1.1 connection that knows just enough to count answers: those with Content-Length,
// those in chunks, and those without a body.

import { connect, type Socket } from 'node:net'

export interface Target {
  readonly host: string
  readonly port: number
  readonly requests: readonly string[]
}

export class Connection {
  readonly #target: Target
  #next: number
  #socket: Socket | undefined
  #received = ''
  #complaint: string | null = null
  #settle: ((good: boolean) => void) | undefined

  /** `at` is its number; connections of different numbers begin with different requests. */
  constructor(target: Target, at: number) {
    this.#target = target
    this.#next = at * 7
  }

  /** The first answer that was not a 2xx. */
  get complaint(): string | null {
    return this.#complaint
  }

  open(): Promise<void> {
    const { host, port } = this.#target
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port, noDelay: true })
      socket.setEncoding('latin1')
      socket.on('data', (text: string) => this.#take(text))
      socket.on('close', () => this.#answered(false))
      socket.once('error', reject)
      socket.once('connect', resolve)
      this.#socket = socket
    })
  }

  /** Sends the next request; resolves, once its answer is whole, to whether that was a 2xx. */
  exchange(): Promise<boolean> {
    if (this.#socket?.destroyed !== false) return Promise.resolve(false)
    const { requests } = this.#target
    const request = requests[this.#next++ % requests.length] ?? ''
    return new Promise((resolve) => {
      this.#settle = resolve
      this.#socket?.write(request, 'latin1')
    })
  }

  close(): void {
    this.#socket?.destroy()
  }

  #take(text: string): void {
    this.#received = this.#received === '' ? text : this.#received + text
    if (!isWhole(this.#received)) return
    const good = this.#received.startsWith('2', 'HTTP/1.1 '.length)
    if (!good) this.#complaint ??= this.#received
    this.#received = ''
    this.#answered(good)
  }

  #answered(good: boolean): void {
    this.#settle?.(good)
    this.#settle = undefined
  }
}

function isWhole(answer: string): boolean {
  const headEnds = answer.indexOf('\r\n\r\n')
  if (headEnds === -1) return false
  const head = answer.slice(0, headEnds)
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (length !== undefined) return answer.length >= headEnds + 4 + Number(length)
  return !/\r\ntransfer-encoding: *chunked/i.test(head) || answer.endsWith('\r\n0\r\n\r\n')
}
