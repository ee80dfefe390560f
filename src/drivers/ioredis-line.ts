import type { Redis, RedisOptions } from 'ioredis'
import { ServerReplyError } from '../driver.ts'
import { explain } from './ioredis-errors.ts'
import type { Line, LineEvents } from './line.ts'
import { inTime, LIMIT_MS } from './time-limit.ts'

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
    retryStrategy: () => null,
    sentinelRetryStrategy: () => null,
    enableOfflineQueue: true,
    autoResubscribe: false,
  })
  let lastError: unknown
  connection.on('error', (error) => {
    lastError = error
    // ioredis 5 says so when a slot has left the node, for it takes that for an answer that it did not ask for.
    if (error.message.startsWith('Command queue state error')) connection.disconnect()
  })
  connection.once('end', () => events.onLost())
  connection.on(sharded ? 'smessage' : 'message', (channel, message) => events.onMessage(channel, message))
  await inTime(connection.connect(), 'connect').catch((error: unknown) => {
    connection.disconnect()
    throw explain(lastError ?? error, { written: false })
  })
  return new IoredisLine(connection, sharded)
}

class IoredisLine implements Line {
  readonly #connection: Redis
  readonly #sharded: boolean
  /**
   * How to reject what is not confirmed yet, when the connection ends: ioredis 5 forgets an SSUBSCRIBE that is answered with
   * MOVED, which would wait for ever.
   */
  readonly #unconfirmed = new Set<(error: Error) => void>()
  #unexplainedMoves = 0

  constructor(connection: Redis, sharded: boolean) {
    this.#connection = connection
    this.#sharded = sharded
    connection.on('moved', () => this.#onMoved())
    connection.once('end', () => {
      for (const reject of this.#unconfirmed) reject(new Error('the connection was closed'))
    })
  }

  async subscribe(channel: string): Promise<void> {
    try {
      await this.#confirmed(this.#subscribe(channel))
    } catch (error) {
      const explained = explain(error, { written: true })
      if (explained instanceof ServerReplyError && explained.word === 'MOVED') this.#unexplainedMoves--
      throw explained
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
    await (this.#sharded ? this.#connection.sunsubscribe(channel) : this.#connection.unsubscribe(channel))
  }

  ping(): Promise<unknown> {
    return this.#connection.ping()
  }

  close(): void {
    this.#connection.disconnect()
  }

  /**
   * ioredis says `moved` when our own SSUBSCRIBE is answered with MOVED, which harms nothing, and when
   * a slot has left the node with our channels in it, but not which: then the line is given up.
   */
  #onMoved(): void {
    this.#unexplainedMoves++
    setImmediate(() => {
      if (this.#unexplainedMoves <= 0) return
      this.#unexplainedMoves = 0
      this.#connection.disconnect()
    })
  }
}
