import type { Redis, RedisOptions } from 'ioredis'
import { ServerReplyError } from '../../driver.ts'
import { explain } from './errors.ts'
import { type Line, type LineEvents, touchOf } from '../wire/line.ts'
import { runIdOf } from '../wire/server-info.ts'
import { inTime, LIMIT_MS } from '../wire/time-limit.ts'
import { wireArgument } from '../wire/wire.ts'

/** Opens a connection that only listens, with the options of `client` except for `place`. */
export async function openLine(
  client: Redis,
  place: RedisOptions,
  sharded: boolean,
  events: LineEvents,
): Promise<Line> {
  const connection = client.duplicate({
    ...place,
    lazyConnect: true,
    connectTimeout: LIMIT_MS,
    // Who asks has a limit of his own, and an answer that does not come would look like a refusal.
    commandTimeout: undefined,
    retryStrategy: () => null,
    sentinelRetryStrategy: () => null,
    enableOfflineQueue: true,
    autoResubscribe: false,
    // The client itself listens to the Sentinels. One that ends by itself would leave its connections to them open, for ever.
    failoverDetector: false,
  })
  let lastError: unknown
  connection.on('error', (error) => {
    lastError = error
    // ioredis 5 says so of each channel whose slot has left the node, for it takes that for an answer that it did not ask for.
    if (error.message.startsWith('Command queue state error')) end(connection)
  })
  connection.once('end', () => events.onLost())
  connection.on(sharded ? 'smessage' : 'message', (channel, message) => events.onMessage(channel, message))
  await inTime(connection.connect(), 'connect').catch((error: unknown) => {
    end(connection)
    throw explain(lastError ?? error, { written: false })
  })
  return new IoredisLine(connection, sharded, events)
}

/**
 * One that ends, or has ended, is left alone: each time ioredis would listen for the end once more, and set a timer that keeps the process
 * alive for two seconds.
 */
function end(connection: Redis): void {
  // There is none before the connection is made, whatever its type says.
  const stream: Partial<Redis['stream']> | undefined = connection.stream
  const ends = connection.status === 'close' || connection.status === 'end' || stream?.writableEnded === true
  if (!ends) connection.disconnect()
}

class IoredisLine implements Line {
  readonly runId: Promise<string | undefined>
  readonly #connection: Redis
  readonly #sharded: boolean
  /**
   * How to reject what is not confirmed yet, when the connection ends: ioredis 5 forgets an SSUBSCRIBE that is answered with
   * MOVED, which would wait for ever.
   */
  readonly #unconfirmed = new Set<(error: Error) => void>()
  #unexplainedMoves = 0
  /** What the server has confirmed. */
  readonly #carried = new Set<string>()
  readonly #events: LineEvents

  constructor(connection: Redis, sharded: boolean, events: LineEvents) {
    this.#connection = connection
    this.#sharded = sharded
    this.#events = events
    this.runId = sharded ? Promise.resolve(undefined) : this.#askRunId()
    this.runId.catch(() => undefined) // who needs it sees the failure
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

  /** A MOVED that answers us is no news of other slots. */
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

  close(): void {
    end(this.#connection)
  }

  /**
   * ioredis says `moved` when our own SSUBSCRIBE is answered with MOVED, which harms nothing, and when
   * a slot has left the node with our channels in it, but not which: then the line asks for all of them again. While the
   * answer to an SSUBSCRIBE is due, ioredis 5 may have taken it for that, and the line is given up.
   */
  #onMoved(): void {
    this.#unexplainedMoves++
    setImmediate(() => {
      if (this.#unexplainedMoves <= 0) return
      this.#unexplainedMoves = 0
      if (this.#unconfirmed.size > 0) this.close()
      else for (const channel of this.#carried) void this.#askAgain(channel)
    })
  }

  /** Changes nothing where the channel is carried yet. What ends the connection is told by that. */
  async #askAgain(channel: string): Promise<void> {
    try {
      await this.#subscribe(channel)
    } catch (error) {
      const explained = this.#explain(error)
      if (explained instanceof ServerReplyError && this.#carried.delete(channel)) this.#events.onLeft(channel)
    }
  }
}
