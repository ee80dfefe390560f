import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { freePort } from '../servers/ports.ts'
import { HOST } from './client.ts'

const GATHERED_MS = 100

/** An address in front of a server, which passes everything on. */
export interface Relay {
  readonly port: number
  /** Opened since the start. */
  readonly connections: number
  /** Where new connections lead to; open ones stay. */
  target: number
  /** One reply more than the server gave comes before the next. */
  insertReply(): void
  /** Likewise, together with all that the server gives within a moment. */
  insertReplyBeforeMany(): void
  /** The server says this on every open connection, of its own accord. */
  say(text: string): void
  stop(): void
}

export async function startRelay(target: number): Promise<Relay> {
  const relay = new TcpRelay(await freePort(), target)
  await relay.start()
  return relay
}

class TcpRelay implements Relay {
  readonly port: number
  target: number
  connections = 0
  readonly #listener: Server
  readonly #sockets = new Set<Socket>()
  readonly #clients = new Set<Socket>()
  #inserts = false
  #gathers = false

  constructor(port: number, target: number) {
    this.port = port
    this.target = target
    this.#listener = createServer((client) => this.#pass(client, connect(this.target, HOST)))
  }

  async start(): Promise<void> {
    this.#listener.listen(this.port, HOST)
    await once(this.#listener, 'listening')
  }

  insertReply(): void {
    this.#inserts = true
  }

  insertReplyBeforeMany(): void {
    this.#gathers = true
  }

  say(text: string): void {
    for (const client of this.#clients) client.write(text)
  }

  stop(): void {
    this.#listener.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  #gather(client: Socket): void {
    this.#gathers = false
    this.#inserts = true
    client.cork()
    setTimeout(() => client.uncork(), GATHERED_MS)
  }

  #pass(client: Socket, server: Socket): void {
    this.connections++
    this.#clients.add(client)
    client.on('close', () => this.#clients.delete(client))
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(from)
      from.on('error', () => undefined).on('close', () => to.destroy())
    }
    client.on('data', (chunk) => server.write(chunk))
    server.on('data', (chunk) => {
      if (this.#gathers) this.#gather(client)
      if (this.#inserts) client.write('+OK\r\n')
      this.#inserts = false
      client.write(chunk)
    })
  }
}
