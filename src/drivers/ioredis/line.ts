import type { Redis, RedisOptions } from 'ioredis'
import { ServerReplyError } from '../../driver.ts'
import { explain } from './errors.ts'
import { type Line, type LineEvents, touchOf } from '../wire/line.ts'
import { runIdOf } from '../wire/server-info.ts'
import { inTime, LIMIT_MS } from '../wire/time-limit.ts'
import { wireArgument } from '../wire/wire.ts'

/** Opens a connection for subscriptions only, with the options of `client` except for `place`. */
export async function openLine(
  client: Redis,
  place: RedisOptions,
  sharded: boolean,
  events: LineEvents,
): Promise<Line> {
  // The first two Sentinels may be silent.
  const limit = LIMIT_MS / (client.options.sentinels ? 3 : 1)
  const connection = client.duplicate({
    ...place,
    lazyConnect: true,
    connectTimeout: limit,
    // Each question has its own time limit. With this timeout, a missing answer would look like a rejection.
    commandTimeout: undefined,
    // Its connection to a Sentinel that is silent would stay for ever.
    sentinelCommandTimeout: limit,
    retryStrategy: () => null,
    sentinelRetryStrategy: () => null,
    enableOfflineQueue: true,
    autoResubscribe: false,
    // The client itself listens to the Sentinels. A connection that ends by itself would leave its Sentinel connections
    // open.
    failoverDetector: false,
  })
  let lastError: unknown
  connection.on('error', (error) => {
    lastError = error
    // ioredis 5 emits this for each channel whose slot has left the node: it takes the message for an unrequested
    // reply.
    if (error.message.startsWith('Command queue state error')) end(connection)
  })
  connection.once('end', () => events.onLost())
  connection.on(sharded ? 'smessage' : 'message', (channel, message) => events.onMessage(channel, message))
  const connecting = connection.connect()
  events.onOpening(() => end(connection))
  await inTime(connecting, 'connect').catch((error: unknown) => {
    end(connection)
    throw explain(lastError ?? error, { written: false })
  })
  return new IoredisLine(connection, sharded, events)
}

/**
 * A connection that is ending or has ended is left alone: on each further call ioredis would wait for the end again,
 * with a timer that keeps the process alive for two seconds.
 */
function end(connection: Redis): void {
  // Undefined before the connection is made, despite its type.
  const stream: Redis['stream'] | undefined = connection.stream
  const ends = connection.status === 'close' || connection.status === 'end' || stream?.writableEnded
  if (ends) return
  connection.disconnect()
  // It would wait until the other side has ended the connection too, and a silent one never does.
  stream?.destroy()
}

class IoredisLine implements Line {
  readonly runId: Promise<string | undefined>
  readonly #connection: Redis
  readonly #sharded: boolean
  /**
   * Rejects unconfirmed subscriptions when the connection ends: ioredis 5 forgets an SSUBSCRIBE that is answered with
   * MOVED, and its promise would never settle.
   */
  readonly #unconfirmed = new Set<(error: Error) => void>()
  #unexplainedMoves = 0
  /** Channels that the server has confirmed. */
  readonly #carried = new Set<string>()
  readonly #events: LineEvents

  constructor(connection: Redis, sharded: boolean, events: LineEvents) {
    this.#connection = connection
    this.#sharded = sharded
    this.#events = events
    this.runId = sharded ? Promise.resolve(undefined) : this.#askRunId()
    this.runId.catch(() => undefined) // its users handle the failure
    connection.on('moved', () => this.#onMoved())
    connection.once('end', () => {
      for (const reject of this.#unconfirmed) reject(new Error('the connection was closed'))
    })
  }

  async subscribe(channel: string): Promise<void> {
    try {
      await this.#confirmed(this.#subscribe(channel))
      this.#carried.add(channel)
    } catch (error) {
      throw this.#explain(error)
    }
  }

  /** A MOVED in answer to our own SSUBSCRIBE says nothing about other slots. */
  #explain(error: unknown): Error {
    const explained = explain(error, { written: true })
    if (explained instanceof ServerReplyError && explained.word === 'MOVED') this.#unexplainedMoves--
    return explained
  }

  async #askRunId(): Promise<string | undefined> {
    try {
      return runIdOf(String(await this.#connection.call('info', 'server')))
    } catch (error) {
      throw explain(error, { written: true })
    }
  }

  #confirmed(answer: Promise<unknown>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#unconfirmed.add(reject)
      answer.then(() => resolve(), reject).finally(() => this.#unconfirmed.delete(reject))
    })
  }

  #subscribe(channel: string): Promise<unknown> {
    return this.#sharded ? this.#connection.ssubscribe(channel) : this.#connection.subscribe(channel)
  }

  async unsubscribe(channel: string): Promise<void> {
    this.#carried.delete(channel)
    try {
      await (this.#sharded ? this.#connection.sunsubscribe(channel) : this.#connection.unsubscribe(channel))
    } catch (error) {
      throw explain(error, { written: true })
    }
  }

  ping(): Promise<unknown> {
    return this.#connection.ping()
  }

  async touch(key: string): Promise<unknown> {
    const { command, args } = touchOf(key)
    try {
      return await this.#connection.call(command, args.map(wireArgument))
    } catch (error) {
      throw explain(error, { written: true })
    }
  }

  /**
   * ioredis emits `moved` in two cases. One is a MOVED in answer to our own SSUBSCRIBE, which is harmless. The other is
   * that a slot with our channels has left the node; since it does not say which slot, the line subscribes to all its
   * channels again. While an SSUBSCRIBE is unanswered, ioredis 5 may have confused the two, and the line is closed.
   */
  #onMoved(): void {
    this.#unexplainedMoves++
    setImmediate(() => {
      if (this.#unexplainedMoves <= 0) return
      this.#unexplainedMoves = 0
      if (this.#unconfirmed.size > 0) end(this.#connection)
      else for (const channel of this.#carried) void this.#askAgain(channel)
    })
  }

  /** Has no effect for a channel that is still carried. An error that ends the connection is reported by its end. */
  async #askAgain(channel: string): Promise<void> {
    try {
      await this.#subscribe(channel)
    } catch (error) {
      const explained = this.#explain(error)
      if (explained instanceof ServerReplyError && this.#carried.delete(channel)) this.#events.onLeft(channel)
    }
  }
}
