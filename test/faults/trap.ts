// A proxy that stops a client at a moment of its work: when a request is about to reach the server, or when it has been
// executed and its answer is about to arrive. The test decides what happens to the client then.

import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Reader } from '../servers/proxy.ts'

/** `before` a request reaches the server; `after` it was carried out. */
export type When = 'before' | 'after'

export interface Caught {
  /** Lets the held data through, to a server even when the client has died. */
  pass(): void
  /** The held data never arrives. */
  drop(): void
}

interface Bait {
  readonly matching: RegExp
  readonly when: When
  caught(link: Link): void
}

export class Trap {
  readonly #serverPort: number
  readonly #newReader: () => Reader
  readonly #listener: Server
  readonly #links = new Set<Link>()
  #bait: Bait | undefined

  constructor(serverPort: number, newReader: () => Reader) {
    this.#serverPort = serverPort
    this.#newReader = newReader
    this.#listener = createServer((client) => this.#accept(client))
  }

  async listen(): Promise<void> {
    this.#listener.listen(0, '127.0.0.1')
    await once(this.#listener, 'listening')
  }

  get port(): number {
    return (this.#listener.address() as { port: number }).port
  }

  /** Resolves when the next matching request has reached this moment, where it is held. */
  stopAt(matching: RegExp, when: When): Promise<Caught> {
    return new Promise((resolve) => {
      this.#bait = { matching, when, caught: resolve }
    })
  }

  stop(): void {
    this.#listener.close()
    for (const link of this.#links) link.drop()
  }

  #accept(client: Socket): void {
    const take = (request: Buffer): Bait | undefined => {
      const bait = this.#bait
      if (bait?.matching.test(request.toString('latin1')) !== true) return undefined
      this.#bait = undefined
      return bait
    }
    this.#links.add(new Link(client, connect(this.#serverPort, '127.0.0.1'), this.#newReader(), take))
  }
}

class Link implements Caught {
  readonly #client: Socket
  readonly #server: Socket
  readonly #take: (request: Buffer) => Bait | undefined
  #bait: Bait | undefined
  #isCaught = false
  #held: Buffer[] = []

  constructor(client: Socket, server: Socket, reader: Reader, take: (request: Buffer) => Bait | undefined) {
    this.#client = client
    this.#server = server
    this.#take = take
    client.setNoDelay(true)
    server.setNoDelay(true)
    client.on('data', (chunk) => {
      for (const request of reader.read(chunk)) this.#fromClient(request)
    })
    server.on('data', (chunk) => this.#fromServer(chunk))
    client.on('close', () => this.#isCaught || server.end())
    server.on('close', () => client.destroy())
    for (const socket of [client, server]) socket.on('error', () => undefined) // `close` follows
  }

  pass(): void {
    const other = this.#bait?.when === 'after' ? this.#client : this.#server
    this.#isCaught = false
    this.#bait = undefined
    for (const data of this.#held.splice(0)) other.write(data)
    if (this.#client.destroyed) this.#server.end()
  }

  drop(): void {
    this.#client.destroy()
    this.#server.destroy()
  }

  #fromClient(request: Buffer): void {
    this.#bait ??= this.#take(request)
    if (this.#bait?.when !== 'before') {
      this.#server.write(request)
      return
    }
    this.#held.push(request)
    this.#catch(this.#bait)
  }

  #fromServer(chunk: Buffer): void {
    if (this.#bait?.when !== 'after') {
      this.#client.write(chunk)
      return
    }
    this.#held.push(chunk)
    this.#catch(this.#bait)
  }

  #catch(bait: Bait): void {
    if (this.#isCaught) return
    this.#isCaught = true
    bait.caught(this)
  }
}

/** It ends with the test. */
export async function setTrap(serverPort: number, newReader: () => Reader): Promise<Trap> {
  const trap = new Trap(serverPort, newReader)
  await trap.listen()
  onTestFinished(() => trap.stop())
  return trap
}
