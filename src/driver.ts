// The port between Perilune and a Redis client library. It is an inner seam: it may change
// between minor versions. Whoever writes a driver runs the suite of `perilune/testing` against it.
//
// A driver sends and receives; it decides nothing. Retries, deadlines, NOSCRIPT and the choice
// between "failed" and "may have happened" belong to the runtime above it.

/** One built script. */
export interface Script {
  /** `feed/append` */
  readonly name: string
  readonly sha1: string
  readonly source: string
  /** True when the script never writes. */
  readonly reads: boolean
  /** True when an answer holds bytes: bulk strings then come back as Buffers, else as UTF-8 text. */
  readonly bytes: boolean
}

export type Argument = string | number | Uint8Array

export interface ScriptCall {
  readonly script: Script
  readonly keys: readonly string[]
  readonly args: readonly Argument[]
  /** `hash` sends EVALSHA; `source` sends EVAL, for a server that has forgotten the script. */
  readonly send: 'hash' | 'source'
}

/** A plain read such as GET or MGET. The first argument is the key that decides the node. */
export interface ReadCall {
  readonly command: string
  readonly args: readonly Argument[]
}

/** A plain command that writes. The first argument is its one key. */
export type WriteCall = ReadCall

export type Reply = string | number | Buffer | null | Reply[]

export interface ServerInfo {
  readonly engine: 'redis' | 'valkey' | 'other'
  /** Of Redis, or the Redis version that Valkey says it is compatible with; `7.0.15`. */
  readonly version: string
  readonly cluster: boolean
  /** True when subscriptions are sharded: wake with SPUBLISH on a channel that carries the key's tag, else PUBLISH. */
  readonly shardedChannels: boolean
  /** The number of the database that the client uses; default 0. What is published is heard in all of them. */
  readonly database?: number
}

export interface Listener {
  onMessage(message: string): void
  /** The subscription is interrupted: until `onGap` nothing is heard. Called at once, for whoever must not go on without. */
  onLost?(): void
  /** The subscription was interrupted and is back: messages may have been missed. */
  onGap(): void
}

export interface Subscription {
  close(): Promise<void>
}

export interface Driver {
  /** The client library, for messages: `ioredis`. */
  readonly name: string
  /**
   * Runs one script. Rejects with `ServerReplyError` when the server answered with an error, with
   * `ConnectionLostError` when no answer will come; with nothing else.
   */
  run(call: ScriptCall): Promise<Reply>
  /** Sends all calls before waiting for any answer. Each promise settles by itself, as `run` does. */
  runMany(calls: readonly ScriptCall[]): Promise<Reply>[]
  /** Sends plain reads together, over any slots. Bulk strings come back as Buffers. */
  read(calls: readonly ReadCall[]): Promise<Reply>[]
  /**
   * Sends one plain write, once: what follows from a lost answer is the caller's affair. Rejects as `run` does. A bulk string
   * comes back as a Buffer.
   */
  write(call: WriteCall): Promise<Reply>
  /** Loads a script on every master. */
  load(script: Script): Promise<void>
  /**
   * Listens on a channel; resolves once the server has confirmed. All subscriptions share one extra
   * connection (one per master in use on a cluster with sharded channels). While somebody listens, the driver makes sure that
   * this connection is alive and leads to the node where commands for the channel run; else the subscription is lost, and
   * placed again.
   */
  subscribe(channel: string, listener: Listener): Promise<Subscription>
  info(): Promise<ServerInfo>
  /** WAIT on the connection that serves `key`; resolves to the number of replicas that confirmed. */
  wait(key: string, replicas: number, timeoutMs: number): Promise<number>
  /**
   * The node that serves `key` now, as far as the client knows. Undefined where all keys are served over one connection, or nobody
   * knows.
   */
  placeOf?(key: string): string | undefined
  /**
   * A reply had a shape that its call never gets: what comes over the connection may belong to other calls. Drops the one that
   * serves `key` and fails what is due on it as maybe done; the client connects again by itself.
   */
  reconnect?(key: string): void
  /** False while the command connection or a needed subscriber connection is down, or the latter cannot be shown to hear. */
  healthy(): boolean
  /**
   * Closes what the driver opened itself; the client it was given stays open. Called when the last instance on it closes: all
   * calls are refused from then on, and those under way settle.
   */
  close(): Promise<void>
}

/**
 * Marks all that `type` makes, so that every copy of the library knows it: a program may load two versions, or have one of them
 * bundled. `instanceof` asks for the mark; for a class that extends `type` it works as it always does. What has
 * a mark is used through its public members only, and these may be added to, never changed.
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

/** What users throw is asked as well, and a proxy may throw whatever it is asked. */
function has(value: object, mark: symbol): boolean {
  try {
    return mark in value
  } catch {
    return false
  }
}

/** The server answered with an error; `message` is its text and begins with the code word, as of Redis 7. */
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

/** What Redis 6.2 says of a script hides its code word behind the place: `ERR Error running script (…): @user_script:4: @user_script: 4: -OOM …`. */
function asOfRedis7(message: string): string {
  const [, sha1, line, said] = IN_SCRIPT_OF_6_2.exec(message) ?? []
  if (said === undefined) return message
  const withWord = /^[A-Z][A-Z0-9]+ /.test(said) ? said : `ERR ${said}`
  // What a script has caught it tells without a place.
  return sha1 === undefined ? withWord : `${withWord} script: ${sha1}, on @user_script:${line}.`
}

/** No answer will come. `sent` is false only when it is certain that the server never got the call. */
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
