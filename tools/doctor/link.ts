// One connection to one server. It never reconnects, and each answer has a deadline.

import type { PeerCertificate, TLSSocket } from 'node:tls'
import { Redis } from 'ioredis'
import type { Place } from './address.ts'
import { inTime, SilentError } from './in-time.ts'

/** The texts of the PEM files that the user named. */
export interface TlsFiles {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

export interface Access {
  readonly tls: TlsFiles | null
  readonly username: string | null
  readonly password: string | null
  readonly db: number
  readonly timeoutMs: number
}

type Argument = string | number

export class Link {
  readonly place: Place
  readonly #client: Redis
  readonly #timeoutMs: number
  #lastError: Error | null = null

  private constructor(place: Place, { tls, timeoutMs }: Access) {
    this.place = place
    this.#timeoutMs = timeoutMs
    this.#client = new Redis({
      host: place.host,
      port: place.port,
      ...(tls === null ? {} : { tls: { ...tls } }),
      lazyConnect: true,
      connectTimeout: timeoutMs,
      retryStrategy: () => null,
      maxRetriesPerRequest: 0,
      enableReadyCheck: false,
      // What a handshake would send is sent one by one, so that each refusal is seen.
      protocol: 2,
      disableClientInfo: true,
    })
    this.#client.on('error', (error: Error) => (this.#lastError = error))
  }

  /** Rejects with the error of the socket, a reply such as WRONGPASS, or SilentError. */
  static async open(place: Place, access: Access): Promise<Link> {
    const link = new Link(place, access)
    try {
      await inTime(link.#connect(access), access.timeoutMs)
      return link
    } catch (error) {
      link.close()
      // What ioredis rejects with may say only that the connection is closed.
      throw error instanceof SilentError || isReply(error) ? error : (link.#lastError ?? error)
    }
  }

  async #connect({ username, password, db }: Access): Promise<void> {
    await this.#client.connect()
    if (password !== null) await this.call('AUTH', ...(username === null ? [password] : [username, password]))
    await this.call('PING').catch((error: unknown) => {
      // A user without the right to ping may have others, and a server that loads answers INFO.
      if (!/^(NOPERM|LOADING|BUSY|MASTERDOWN|MISCONF)/.test(messageOf(error))) throw error
    })
    if (db > 0) await this.call('SELECT', db)
  }

  call(command: string, ...args: Argument[]): Promise<unknown> {
    return inTime(this.#client.call(command, ...args), this.#timeoutMs)
  }

  /** Sends all at once; an error takes the place of its answer. */
  async callAll(commands: readonly (readonly [string, ...Argument[]])[]): Promise<unknown[]> {
    const settled = await Promise.allSettled(
      commands.map(([command, ...args]) => this.call(command, ...args)),
    )
    return settled.map((each) => (each.status === 'fulfilled' ? each.value : asError(each.reason)))
  }

  /** Resolves once the subscription is confirmed. The link can do nothing else from then on. */
  async listen(channel: string, sharded: boolean, onMessage: (message: string) => void): Promise<void> {
    this.#client.on(sharded ? 'smessage' : 'message', (_: string, message: string) => onMessage(message))
    const subscribed = sharded ? this.#client.ssubscribe(channel) : this.#client.subscribe(channel)
    await inTime(subscribed, this.#timeoutMs)
  }

  get remoteAddress(): string | null {
    return this.#client.stream?.remoteAddress ?? null
  }

  /** Null without TLS. */
  get certificate(): PeerCertificate | null {
    const socket = this.#client.stream as Partial<TLSSocket> | undefined
    return socket?.getPeerCertificate?.() ?? null
  }

  close(): void {
    this.#client.disconnect()
  }
}

/** True for what a server answered, false for what the network did. */
export function isReply(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError'
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}
