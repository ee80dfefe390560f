import type { Redis, RedisOptions } from 'ioredis'
import { ServerReplyError } from '../driver.ts'
import type { Line, LineEvents } from './channels.ts'
import { explain } from './ioredis-errors.ts'

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
    retryStrategy: () => null,
    sentinelRetryStrategy: () => null,
    enableOfflineQueue: true,
    autoResubscribe: false,
  })
  let lastError: unknown
  connection.on('error', (error) => {
    lastError = error
  })
  connection.once('end', () => events.onLost())
  connection.on(sharded ? 'smessage' : 'message', (channel, message) => events.onMessage(channel, message))
  await connection.connect().catch((error: unknown) => {
    throw explain(lastError ?? error, { written: false })
  })
  return new IoredisLine(connection, sharded)
}

class IoredisLine implements Line {
  readonly #connection: Redis
  readonly #sharded: boolean
  #unexplainedMoves = 0

  constructor(connection: Redis, sharded: boolean) {
    this.#connection = connection
    this.#sharded = sharded
    connection.on('moved', () => this.#onMoved())
  }

  async subscribe(channel: string): Promise<void> {
    try {
      await (this.#sharded ? this.#connection.ssubscribe(channel) : this.#connection.subscribe(channel))
    } catch (error) {
      const explained = explain(error, { written: true })
      if (explained instanceof ServerReplyError && explained.word === 'MOVED') this.#unexplainedMoves--
      throw explained
    }
  }

  async unsubscribe(channel: string): Promise<void> {
    await (this.#sharded ? this.#connection.sunsubscribe(channel) : this.#connection.unsubscribe(channel))
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
