// A TCP proxy in front of the port of Redis or of a database that breaks connections in ways a test can choose.
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { freePort } from './ports.ts'
import { RequestReader } from './requests.ts'

export interface Proxy {
  readonly port: number
  readonly url: string
  /** Opened since the start. */
  readonly connections: number
  readonly openConnections: number
  /** Whole requests that clients have sent, passed on or not. */
  readonly requests: number
  readonly bytesToServer: number
  readonly bytesToClient: number
  /**
   * The next `count` requests reach the server and are executed, then their connection closes without an answer.
   * `matching` selects the requests (`/evalsha/i`); the others pass.
   */
  cutReplies(count: number, matching?: RegExp): void
  /** The next `count` requests do not reach the server; their connection closes. */
  dropRequests(count: number, matching?: RegExp): void
  /** Requests that `cutReplies` and `dropRequests` still wait for. */
  readonly pendingFaults: number
  /** Swallows everything both ways and closes nothing, on old connections and on new ones. */
  halfOpen(): void
  /** Connections opened from here on work; those that `halfOpen` caught stay dead, as the peer has vanished. */
  heal(): void
  /** As `halfOpen`, for the connections that have subscribed to a channel; the others and new ones work. */
  halfOpenSubscribers(): void
  /** Connections opened from here on lead to another server. */
  leadTo(serverPort: number): void
  /**
   * Each time so many requests have come, the connection of the last one is reset: every other time the server carries
   * that one out. So some calls get through however slow the machine is. 0 ends it.
   */
  resetEach(requests: number): void
  /** Resets every open connection. */
  resetAll(): void
  /** Data that passes waits this long, in each direction. 0 ends it. */
  delay(ms: number): void
  /** The next `count` requests are carried out a second time, so much later, on a connection of their own. */
  copyLate(count: number, ms: number, matching?: RegExp): void
  stop(): Promise<void>
}

/** Finds whole requests in what a client sends. */
export interface Reader {
  read(chunk: Buffer): Buffer[]
}

/** Starts a proxy on a free port. `newReader` knows the protocol, if that is not the one of Redis. */
export async function startProxy(
  serverPort: number,
  newReader: () => Reader = () => new RequestReader(),
): Promise<Proxy> {
  const proxy = new FaultProxy(await freePort(), serverPort, newReader)
  await proxy.listen()
  return proxy
}

type Fault = 'cut' | 'drop'

const SUBSCRIBE = /^\*\d+\r\n\$\d+\r\n[ps]?subscribe\r\n/i

interface Switches {
  fault: { kind: Fault; left: number; matching: RegExp } | undefined
  copies: { left: number; afterMs: number; matching: RegExp }
  deaf: boolean
  delayMs: number
  resetEach: number
  connections: number
  requests: number
  bytesToServer: number
  bytesToClient: number
}

class FaultProxy implements Proxy {
  readonly port: number
  #serverPort: number
  readonly #newReader: () => Reader
  readonly #listener: Server
  readonly #links = new Set<Link>()
  readonly #switches: Switches = {
    fault: undefined,
    copies: { left: 0, afterMs: 0, matching: /^/ },
    deaf: false,
    delayMs: 0,
    resetEach: 0,
    connections: 0,
    requests: 0,
    bytesToServer: 0,
    bytesToClient: 0,
  }

  constructor(port: number, serverPort: number, newReader: () => Reader) {
    this.port = port
    this.#serverPort = serverPort
    this.#newReader = newReader
    this.#listener = createServer((client) => this.#accept(client))
  }

  async listen(): Promise<void> {
    this.#listener.listen(this.port, '127.0.0.1')
    await once(this.#listener, 'listening')
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  get connections(): number {
    return this.#switches.connections
  }

  get openConnections(): number {
    return this.#links.size
  }

  get requests(): number {
    return this.#switches.requests
  }

  get bytesToServer(): number {
    return this.#switches.bytesToServer
  }

  get bytesToClient(): number {
    return this.#switches.bytesToClient
  }

  get pendingFaults(): number {
    return this.#switches.fault?.left ?? 0
  }

  cutReplies(count: number, matching = /^/): void {
    this.#switches.fault = { kind: 'cut', left: count, matching }
  }

  dropRequests(count: number, matching = /^/): void {
    this.#switches.fault = { kind: 'drop', left: count, matching }
  }

  halfOpen(): void {
    this.#switches.deaf = true
    for (const link of this.#links) link.goDeaf()
  }

  halfOpenSubscribers(): void {
    for (const link of this.#links) if (link.subscribes) link.goDeaf()
  }

  leadTo(serverPort: number): void {
    this.#serverPort = serverPort
  }

  heal(): void {
    this.#switches.deaf = false
  }

  resetEach(requests: number): void {
    this.#switches.resetEach = requests
  }

  resetAll(): void {
    for (const link of this.#links) link.reset()
  }

  delay(ms: number): void {
    this.#switches.delayMs = ms
  }

  copyLate(count: number, ms: number, matching = /^/): void {
    this.#switches.copies = { left: count, afterMs: ms, matching }
  }

  async stop(): Promise<void> {
    const closed = once(this.#listener, 'close')
    this.#listener.close()
    this.resetAll()
    await closed
  }

  #accept(client: Socket): void {
    this.#switches.connections++
    const port = this.#serverPort
    const link = new Link(
      client,
      connect(port, '127.0.0.1'),
      this.#newReader(),
      this.#switches,
      (request, afterMs) => sendLater(port, request, afterMs),
    )
    this.#links.add(link)
    client.once('close', () => this.#links.delete(link))
  }
}

/** On a connection of its own, whose answer is discarded. */
function sendLater(port: number, request: Buffer, afterMs: number): void {
  setTimeout(() => {
    const socket = connect(port, '127.0.0.1', () => socket.end(request))
    socket.on('error', () => {}).resume()
  }, afterMs)
}

/** One connection: the client's socket and ours to the server. */
class Link {
  readonly #client: Socket
  readonly #server: Socket
  readonly #switches: Switches
  readonly #reader: Reader
  readonly #sendAgain: (request: Buffer, afterMs: number) => void
  #deaf: boolean
  #subscribes = false
  #cut = false
  #lastToServer = Promise.resolve()
  #lastToClient = Promise.resolve()

  constructor(
    client: Socket,
    server: Socket,
    reader: Reader,
    switches: Switches,
    sendAgain: (request: Buffer, afterMs: number) => void,
  ) {
    this.#sendAgain = sendAgain
    this.#client = client
    this.#reader = reader
    this.#server = server
    this.#switches = switches
    this.#deaf = switches.deaf
    client.setNoDelay(true)
    server.setNoDelay(true)
    client.on('data', (chunk) => this.#fromClient(chunk))
    server.on('data', (chunk) => this.#fromServer(chunk))
    // A deaf connection hears no end of the server's side either.
    server.on('close', () => this.#deaf || client.destroy())
    client.on('close', () => server.destroy())
    for (const socket of [client, server]) socket.on('error', () => {}) // `close` follows
  }

  get subscribes(): boolean {
    return this.#subscribes
  }

  goDeaf(): void {
    this.#deaf = true
  }

  reset(): void {
    this.#client.resetAndDestroy()
  }

  #fromClient(chunk: Buffer): void {
    for (const request of this.#reader.read(chunk)) {
      this.#switches.requests++
      if (this.#deaf || this.#cut) return
      this.#request(request)
    }
  }

  #request(request: Buffer): void {
    this.#subscribes ||= SUBSCRIBE.test(request.toString('latin1', 0, 40))
    const { resetEach, requests } = this.#switches
    if (resetEach > 0 && requests % resetEach === 0) {
      return this.#resetBehind(request, requests % (2 * resetEach) === 0)
    }
    this.#copy(request)
    const fault = this.#takeFault(request)
    if (fault === 'drop') {
      this.#cut = true
      this.#lastToServer = this.#lastToServer.then(() => void this.#client.destroy())
      return
    }
    this.#toServer(request)
    if (fault === 'cut') this.#cutAfterwards()
  }

  #resetBehind(request: Buffer, isCarriedOut: boolean): void {
    if (isCarriedOut) this.#toServer(request)
    this.#cut = true
    this.#lastToServer = this.#lastToServer.then(() => this.reset())
  }

  #copy(request: Buffer): void {
    const { copies } = this.#switches
    if (copies.left === 0 || !copies.matching.test(request.toString('latin1'))) return
    copies.left--
    this.#sendAgain(request, copies.afterMs)
  }

  #takeFault(request: Buffer): Fault | undefined {
    const { fault } = this.#switches
    if (fault === undefined || fault.left === 0 || !fault.matching.test(request.toString('latin1')))
      return undefined
    fault.left--
    return fault.kind
  }

  /** Our end of stream makes the server close once it has executed all it got; then the client's stream ends. */
  #cutAfterwards(): void {
    this.#cut = true
    this.#lastToServer = this.#lastToServer.then(() => void this.#server.end())
  }

  #toServer(data: Buffer): void {
    this.#lastToServer = this.#pass(this.#lastToServer, () => {
      this.#switches.bytesToServer += data.length
      this.#server.write(data)
    })
  }

  #fromServer(chunk: Buffer): void {
    this.#lastToClient = this.#pass(this.#lastToClient, () => {
      if (this.#deaf || this.#cut) return
      this.#switches.bytesToClient += chunk.length
      this.#client.write(chunk)
    })
  }

  /** In order, after the delay that is set now. */
  async #pass(before: Promise<void>, send: () => void): Promise<void> {
    const { delayMs } = this.#switches
    const delayed = delayMs > 0 ? new Promise<void>((resolve) => setTimeout(resolve, delayMs)) : undefined
    await before
    await delayed
    send()
  }
}
