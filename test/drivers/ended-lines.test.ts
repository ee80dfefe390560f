// Connections that listen are ended at once, also beside a server that is silent.

import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { beforeEach, describe, expect, inject, onTestFinished, test, vi } from 'vitest'
import { openLine as openIoredis } from '../../src/drivers/ioredis/line.ts'
import { openLine as openNodeRedis } from '../../src/drivers/node-redis/line.ts'
import type { Line, LineEvents } from '../../src/drivers/wire/line.ts'
import { ask } from '../servers/ask.ts'
import { startProxy } from '../servers/proxy.ts'
import { startRedis } from '../servers/redis.ts'

type OpenLine = (port: number, events: LineEvents) => Promise<Line>

const clients: { name: string; open: OpenLine }[] = [
  {
    name: 'ioredis',
    open: (port, events) => openIoredis(new Redis(port, { lazyConnect: true }), {}, false, events),
  },
  {
    name: 'node-redis',
    open: (port, events) =>
      openNodeRedis(createClient({ socket: { host: '127.0.0.1', port } }), {}, false, events),
  },
]

const deaf = { onMessage: () => undefined, onLeft: () => undefined, onLost: () => undefined }

/** A server that accepts connections, never answers, and ends none. */
async function silentServer(): Promise<{ port: number; next: Promise<Socket> }> {
  const server = createServer({ allowHalfOpen: true })
  const next = once(server, 'connection').then(([socket]) => {
    const accepted = socket as Socket
    accepted.on('error', () => undefined).resume()
    onTestFinished(() => void accepted.destroy())
    return accepted
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { port: (server.address() as { port: number }).port, next }
}

test('a line of ioredis leaves no connection to a Sentinel that is silent', async () => {
  const { port, next } = await silentServer()
  const client = new Redis({ sentinels: [{ host: '127.0.0.1', port }], name: 'main', lazyConnect: true })
  openIoredis(client, {}, false, { ...deaf, onOpening: () => undefined }).catch(() => undefined)

  const accepted = await next

  await once(accepted, 'end')
})

test('a line of node-redis is destroyed once the server has ended it, so that no timer of it stays', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const socket = { host: '127.0.0.1', port: redis.port, reconnectStrategy: false } as const
  const connection = createClient({ socket, pingInterval: 3_600_000 })
  const client = { duplicate: () => connection } as unknown as Parameters<typeof openNodeRedis>[0]
  const destroyed = vi.spyOn(connection, 'destroy')
  let onLost = (): void => undefined
  const lost = new Promise<void>((resolve) => (onLost = resolve))
  await openNodeRedis(client, {}, false, { ...deaf, onLost, onOpening: () => undefined })

  await ask(redis.port, 'CLIENT', 'KILL', 'TYPE', 'normal')
  await lost

  expect(destroyed).toHaveBeenCalled()
})

describe.each(clients)('$name', ({ open }) => {
  // Time limits never end: what ends here is ended by the call.
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
  })

  test('a line that is being opened ends when that is given up', async () => {
    const { port, next } = await silentServer()
    let end = (): void => undefined
    open(port, { ...deaf, onOpening: (own) => (end = own) }).catch(() => undefined)
    const accepted = await next

    const ended = once(accepted, 'end')
    end()

    await ended
    // The server ends nothing: a connection that waits for that would stay.
    await vi.waitFor(() => expect(socketsTo(port)).toBe(0))
  })

  test('a line that has fallen silent is gone once it is closed', async () => {
    const proxy = await startProxy(inject('redisPort'))
    onTestFinished(() => proxy.stop())
    let end = (): void => undefined
    await open(proxy.port, { ...deaf, onOpening: (own) => (end = own) })
    const before = socketsTo(proxy.port)
    proxy.halfOpen()

    end()

    await vi.waitFor(() => expect(socketsTo(proxy.port)).toBe(before - 1))
  })
})

function socketsTo(port: number): number {
  const handles = (process as unknown as { _getActiveHandles(): unknown[] })._getActiveHandles()
  return handles.filter((each) => (each as Partial<Socket>).remotePort === port).length
}
