// The port between Perilune and a Redis client library. An internal interface: it may change between minor versions. A
// driver is tested with the suite in `perilune/testing`.
//
// A driver sends and receives; it decides nothing. Retries, deadlines, NOSCRIPT and the choice between "failed" and
// "may have happened" belong to the runtime above it.

/** One built script. */
export interface Script {
  /** `feed/append` */
  readonly name: string
  readonly sha1: string
  readonly source: string
  /** True when the script never writes. */
  readonly reads: boolean
  /** True when an answer holds bytes: bulk strings then come back as Buffers, otherwise as UTF-8 text. */
  readonly bytes: boolean
}

export type Argument = string | number | Uint8Array

export interface ScriptCall {
  readonly script: Script
  readonly keys: readonly string[]
  readonly args: readonly Argument[]
  /** `hash` sends EVALSHA; `source` sends EVAL, for a server that has forgotten the script. */
  readonly send: 'hash' | 'source'
  /**
   * `performance.now()` by which its caller has its answer, or an error: a client that keeps calls for a connection
   * need not send it later. Default: the caller waits.
   */
  readonly by?: number
}

/** A plain read such as GET or MGET. The first argument is the key that decides the node. */
export interface ReadCall {
  readonly command: string
  readonly args: readonly Argument[]
}

/** A plain write command. The first argument is its one key. */
export type WriteCall = ReadCall

export type Reply = string | number | Buffer | null | Reply[]

export interface ServerInfo {
  readonly engine: 'redis' | 'valkey' | 'other'
  /** The version of Redis, or the Redis version that Valkey reports to be compatible with; `7.0.15`. */
  readonly version: string
  readonly cluster: boolean
  /**
   * True when subscriptions are sharded: wake-ups use SPUBLISH on a channel that carries the key's tag. Else PUBLISH.
   */
  readonly shardedChannels: boolean
  /** The number of the database that the client uses; default 0. Published messages reach all databases. */
  readonly database?: number
}

export interface Listener {
  onMessage(message: string): void
  /**
   * The subscription is interrupted: no messages arrive until `onGap`. Called at once, for listeners that must not
   * continue without messages.
   */
  onLost?(): void
  /** The subscription was interrupted and is restored: messages may have been missed. */
  onGap(): void
}

export interface Subscription {
  close(): Promise<void>
}

export interface Driver {
  /** The name of the client library, for messages: `ioredis`. */
  readonly name: string
  /** Where the client connects, for messages, without credentials: `127.0.0.1:6379`. Empty when unknown. */
  readonly address?: string
  /**
   * Runs one script. Rejects with `ServerReplyError` when the server answered with an error, and with
   * `ConnectionLostError` when no answer will come. Rejects with no other error.
   */
  run(call: ScriptCall): Promise<Reply>
  /** Sends all calls before it waits for any answer. Each promise settles independently, as that of `run` does. */
  runMany(calls: readonly ScriptCall[]): Promise<Reply>[]
  /** Sends plain reads together; their slots may differ. Bulk strings come back as Buffers. */
  read(calls: readonly ReadCall[]): Promise<Reply>[]
  /**
   * Sends one plain write, once; the caller handles a lost answer. Rejects as `run` does. A bulk string comes back as a
   * Buffer.
   */
  write(call: WriteCall): Promise<Reply>
  /** Loads a script on every primary. */
  load(script: Script): Promise<void>
  /**
   * Listens on a channel; resolves once the server has confirmed. All subscriptions share one extra connection (on a
   * cluster with sharded channels: one per primary in use). While a subscription is open, the driver checks that this
   * connection is alive and leads to the node that runs commands for the channel. If not, the subscription is lost and
   * placed again.
   */
  subscribe(channel: string, listener: Listener): Promise<Subscription>
  info(): Promise<ServerInfo>
  /** WAIT on the connection that serves `key`; resolves to the number of replicas that confirmed. */
  wait(key: string, replicas: number, timeoutMs: number): Promise<number>
  /**
   * The node that serves `key` now, as far as the client knows. Undefined when one connection serves all keys, or the
   * node is unknown.
   */
  placeOf?(key: string): string | undefined
  /**
   * Called when a reply had a shape that its call never gets: replies on this connection may belong to other calls.
   * Drops the connection that serves `key`; its outstanding calls fail as possibly done. The client reconnects by
   * itself.
   */
  reconnect?(key: string): void
  /**
   * False while the command connection or a required subscriber connection is down, or the latter has not been shown to
   * receive.
   */
  healthy(): boolean
  /**
   * Closes the connections that the driver opened itself; the given client stays open. Called when the last instance on
   * the driver closes: from then on all calls are rejected, and those under way settle.
   */
  close(): Promise<void>
}

/**
 * Marks all instances of `type`, so that every copy of the library recognizes them: a program may load two versions, or
 * bundle one of them. `instanceof` checks the mark; for a class that extends `type` it works as usual. Marked objects
 * are used through their public members only. These may be added to, never changed.
 */
export function brand(type: { readonly prototype: object }, name: string): void {
  const mark = Symbol.for(`perilune.${name}`)
  Object.defineProperty(type.prototype, mark, { value: true })
  Object.defineProperty(type, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      if (this !== type) return Function.prototype[Symbol.hasInstance].call(this, value)
      return typeof value === 'object' && value !== null && has(value, mark)
    },
  })
}

/** Thrown values are checked too, and a proxy may throw on any access. */
function has(value: object, mark: symbol): boolean {
  try {
    return mark in value
  } catch {
    return false
  }
}

/** The server answered with an error. `message` is its text and begins with the error code, as in Redis 7. */
export class ServerReplyError extends Error {
  static {
    brand(this, 'ServerReplyError')
  }

  override readonly name = 'ServerReplyError'
  /** `NOSCRIPT`, `OOM`, `TRYAGAIN`, `ERR` … */
  readonly word: string

  constructor(message: string, options?: ErrorOptions) {
    super(asOfRedis7(message), options)
    this.word = /^-?([A-Z][A-Z0-9_]*)\b/.exec(this.message)?.[1] ?? 'ERR'
  }
}

const IN_SCRIPT_OF_6_2 =
  /^(?:ERR Error running script \(call to f_(\w+)\): )?@user_script: ?(\d+): (?:@user_script: ?\d+: )?-?(.*\S)/s

/**
 * Redis 6.2 puts the error code of a script after the place: `ERR Error running script (…): @user_script:4:
 * @user_script: 4: -OOM …`.
 */
function asOfRedis7(message: string): string {
  const [, sha1, line, said] = IN_SCRIPT_OF_6_2.exec(message) ?? []
  if (said === undefined) return message
  const withWord = /^[A-Z][A-Z0-9]+ /.test(said) ? said : `ERR ${said}`
  // An error that the script itself caught has no place.
  return sha1 === undefined ? withWord : `${withWord} script: ${sha1}, on @user_script:${line}.`
}

/** No answer will come. `sent` is false only when the server certainly never received the call. */
export class ConnectionLostError extends Error {
  static {
    brand(this, 'ConnectionLostError')
  }

  override readonly name = 'ConnectionLostError'
  readonly sent: boolean

  constructor(message: string, sent: boolean, options?: ErrorOptions) {
    super(message, options)
    this.sent = sent
  }
}
