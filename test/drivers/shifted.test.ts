// A client that has lost count takes a reply for that of another call, and so with all replies behind it.

import { createServer, connect, type Server, type Socket } from 'node:net'
import { once } from 'node:events'
import { perilune } from 'perilune'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../servers/ports.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import { HOST, waysToOpen } from './client.ts'

/** Passes everything on. Once it is told to, one reply more than the server gave comes before the next. */
class Relay {
  readonly port: number
  readonly #listener: Server
  readonly #sockets = new Set<Socket>()
  connections = 0
  #inserts = false

  constructor(port: number, serverPort: number) {
    this.port = port
    this.#listener = createServer((client) => this.#pass(client, connect(serverPort, HOST)))
  }

  async start(): Promise<void> {
    this.#listener.listen(this.port, HOST)
    await once(this.#listener, 'listening')
  }

  insertOne(): void {
    this.#inserts = true
  }

  stop(): void {
    this.#listener.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  #pass(client: Socket, server: Socket): void {
    this.connections++
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(from)
      from.on('error', () => undefined).on('close', () => to.destroy())
    }
    client.on('data', (chunk) => server.write(chunk))
    server.on('data', (chunk) => {
      if (this.#inserts) client.write('+OK\r\n')
      this.#inserts = false
      client.write(chunk)
    })
  }
}

describe.each(await waysToOpen('singles'))('%s', (_, open) => {
  let server: RedisServer
  let relay: Relay

  beforeAll(async () => {
    server = await startRedis()
    relay = new Relay(await freePort(), server.port)
    await relay.start()
  })
  afterAll(async () => {
    relay.stop()
    await server.stop()
  })

  test('a connection with a reply too many is given up, and every call gets its own answer', async () => {
    const opened = await open(relay.port)
    const redis = perilune(opened.driver)
    const [lock, feed, limit] = [
      redis.lock('l'),
      redis.feed('f'),
      redis.rateLimit('r', { limit: 99, window: '1h' }),
    ]
    await limit.take('nobody')
    const before = relay.connections

    relay.insertOne()
    const [lease, first, taken, second] = await Promise.all([
      lock.acquire(),
      feed.append('first'),
      limit.take('somebody'),
      feed.append('second'),
    ])
    const { messages } = await feed.read()

    expect(relay.connections).toBeGreaterThan(before)
    expect(messages.map(({ id, body }) => [id, body])).toEqual([
      [first.id, 'first'],
      [second.id, 'second'],
    ])
    expect(taken).toMatchObject({ allowed: true })
    await lease.release()
    await redis.close()
    await opened.close()
  })

  test('so is one whose first reply is that', async () => {
    const opened = await open(relay.port)
    const redis = perilune(opened.driver)
    const before = relay.connections

    relay.insertOne()

    expect(await redis.lock('first').run(() => 'done')).toBe('done')
    expect(relay.connections).toBeGreaterThan(before)
    await redis.close()
    await opened.close()
  })
})
