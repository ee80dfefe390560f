import { type Line, type LineEvents, touchOf } from '../wire/line.ts'
import type { ListeningClient, NodeClient, OnMessage } from './client.ts'
import { explain } from './errors.ts'
import { runIdOf } from '../wire/server-info.ts'
import { inTime, LIMIT_MS } from '../wire/time-limit.ts'

/** Opens a connection for subscriptions only, with the options of `client` except for `socket`. */
export async function openLine(
  client: NodeClient,
  socket: object,
  sharded: boolean,
  events: LineEvents,
): Promise<Line> {
  const connection = client.duplicate({
    socket: {
      ...client.options?.socket,
      ...socket,
      connectTimeout: LIMIT_MS,
      reconnectStrategy: false,
    },
    disableOfflineQueue: false,
    clientSideCache: undefined,
    emitInvalidate: false,
    // On `MOVING` node-redis would replace the connection, and forget what it has subscribed to.
    maintNotifications: 'disabled',
  })
  const line = new NodeRedisLine(connection, sharded, events)
  const connecting = connection.connect()
  events.onOpening(() => line.close())
  await inTime(connecting, 'connect').catch((error: unknown) => {
    line.close()
    throw explain(error)
  })
  if (!sharded) line.askRunId()
  return line
}

class NodeRedisLine implements Line {
  runId: Promise<string | undefined> = Promise.resolve(undefined)
  readonly #connection: ListeningClient
  readonly #sharded: boolean
  readonly #events: LineEvents
  readonly #onMessage: OnMessage
  #lost = false
  #hasSocket = false

  constructor(connection: ListeningClient, sharded: boolean, events: LineEvents) {
    this.#connection = connection
    this.#sharded = sharded
    this.#events = events
    this.#onMessage = (message, channel) => events.onMessage(channel, message)
    for (const event of ['error', 'end']) connection.on(event, () => this.#lose())
    connection.on('connect', () => {
      this.#hasSocket = true
      if (this.#lost) this.close()
    })
    connection.on('sharded-channel-moved', (channel) => this.#leave(String(channel)))
  }

  /** Call this before any subscription: on RESP2 no other command may follow one. */
  askRunId(): void {
    this.runId = this.#connection.sendCommand(['INFO', 'server']).then(
      (info) => runIdOf(String(info)),
      (error: unknown) => {
        throw explain(error)
      },
    )
    this.runId.catch(() => undefined) // its users handle the failure
  }

  async subscribe(channel: string): Promise<void> {
    try {
      await (this.#sharded
        ? this.#connection.sSubscribe(channel, this.#onMessage)
        : this.#connection.subscribe(channel, this.#onMessage))
    } catch (error) {
      throw explain(error)
    }
  }

  async unsubscribe(channel: string): Promise<void> {
    try {
      await (this.#sharded
        ? this.#connection.sUnsubscribe(channel, this.#onMessage)
        : this.#connection.unsubscribe(channel, this.#onMessage))
    } catch (error) {
      throw explain(error)
    }
  }

  async ping(): Promise<unknown> {
    return this.#connection.sendCommand(['PING'])
  }

  async touch(key: string): Promise<unknown> {
    const { command, args } = touchOf(key)
    try {
      return await this.#connection.sendCommand([command, ...args.map(String)])
    } catch (error) {
      throw explain(error)
    }
  }

  close(): void {
    this.#lost = true
    // Before it has a socket, node-redis would end nothing, and keep the connection that it makes afterwards.
    if (!this.#hasSocket && this.#connection.isOpen) return
    try {
      // It ends timers and subscriptions of the client, too, which stay after the server has ended the connection.
      this.#connection.destroy()
    } catch {
      // Node-redis 6.2 refuses this for a connection that is closed, and leaves them.
    }
  }

  /**
   * Deferred until all received data is processed: node-redis processes it twice when its connection is destroyed
   * during that.
   */
  #leave(channel: string): void {
    setImmediate(() => {
      if (!this.#lost) this.#events.onLeft(channel)
    })
  }

  #lose(): void {
    if (this.#lost) return
    this.close()
    this.#events.onLost()
  }
}
