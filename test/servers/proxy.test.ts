import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Redis } from 'ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { ask, until } from './ask.ts'
import { type Proxy, startProxy } from './proxy.ts'
import { RequestReader } from './requests.ts'

let keys = 0

/** A client behind a proxy that neither reconnects nor resends by itself. */
async function setup(): Promise<{ proxy: Proxy; client: Redis; key: string; real: number }> {
  const real = inject('redisPort')
  const proxy = await startProxy(real)
  const client = newClient(proxy)
  onTestFinished(() => proxy.stop())
  await client.ping()
  return { proxy, client, key: `proxy-test-${process.pid}-${++keys}`, real }
}

function newClient(proxy: Proxy): Redis {
  const client = new Redis(proxy.port, '127.0.0.1', { retryStrategy: () => null, disableClientInfo: true })
  client.on('error', () => {})
  onTestFinished(() => client.disconnect())
  return client
}

test('without a fault, requests and answers of any size pass', async () => {
  const { client, key, proxy } = await setup()
  const value = 'x'.repeat(1_000_000)

  await client.set(key, value)

  expect(await client.get(key)).toBe(value)
  expect(await client.del(key)).toBe(1)
  expect(proxy.bytesToServer).toBeGreaterThan(1_000_000)
  expect(proxy.bytesToClient).toBeGreaterThan(1_000_000)
  expect(proxy.connections).toBe(1)
})

test('a call whose reply is cut has happened, and its caller sees a closed connection', async () => {
  const { client, key, proxy, real } = await setup()

  proxy.cutReplies(1)

  await expect(client.incr(key)).rejects.toThrow('Connection is closed')
  expect(await ask(real, 'GET', key)).toBe('1')
  expect(proxy.pendingFaults).toBe(0)
})

test('a call of many megabytes whose reply is cut has happened', async () => {
  const { client, key, proxy, real } = await setup()

  proxy.cutReplies(1)

  await expect(client.append(key, 'x'.repeat(40_000_000))).rejects.toThrow('Connection is closed')
  expect(await ask(real, 'STRLEN', key)).toBe(40_000_000)
  await ask(real, 'DEL', key)
})

test('a dropped request has not happened, and its caller sees a closed connection', async () => {
  const { client, key, proxy, real } = await setup()

  proxy.dropRequests(1)

  await expect(client.incr(key)).rejects.toThrow('Connection is closed')
  expect(await ask(real, 'GET', key)).toBeNull()
})

test('a fault waits for the requests that it is meant for', async () => {
  const { client, key, proxy, real } = await setup()

  proxy.cutReplies(1, /incrby/i)
  await client.incr(key)
  expect(proxy.pendingFaults).toBe(1)

  await expect(client.incrby(key, 10)).rejects.toThrow('Connection is closed')
  expect(await ask(real, 'GET', key)).toBe('11')
})

test('each of several cut replies costs one connection', async () => {
  const { proxy, key, real } = await setup()

  proxy.cutReplies(3, /incr/i)
  for (let call = 0; call < 4; call++)
    await newClient(proxy)
      .incr(key)
      .catch(() => {})

  expect(await ask(real, 'GET', key)).toBe('4')
  expect(proxy.pendingFaults).toBe(0)
})

test('a half-open connection answers nothing and stays open; a new one works after healing', async () => {
  const { client, key, proxy, real } = await setup()

  proxy.halfOpen()
  const lost = client.incr(key)
  const deaf = newClient(proxy)
  await once(deaf, 'connect')
  proxy.heal()
  const healed = newClient(proxy)

  expect(await healed.incrby(key, 10)).toBe(10)
  expect(proxy.openConnections).toBe(3)
  expect(await ask(real, 'GET', key)).toBe('10')
  client.disconnect()
  await expect(lost).rejects.toThrow()
})

test('resetting ends every connection, including the half-open ones', async () => {
  const { client, key, proxy } = await setup()
  proxy.halfOpen()
  const lost = client.incr(key)

  proxy.resetAll()

  await expect(lost).rejects.toThrow()
  await until('all are closed', async () => proxy.openConnections === 0)
})

test('every nth request resets its connection, and every other one of them is executed', async () => {
  const { key, proxy, real } = await setup()
  let lost = 0
  proxy.resetEach(5)

  for (let n = 0; n < 20; n++) {
    const socket = connect(proxy.port, '127.0.0.1', () =>
      socket.write(`*2\r\n$4\r\nINCR\r\n$${key.length}\r\n${key}\r\n`),
    )
    await new Promise<void>((resolve) => {
      socket.once('data', () => resolve())
      socket.once('error', () => resolve(void (lost += 1)))
    })
    socket.destroy()
  }

  expect(lost).toBe(4)
  expect(await ask(real, 'GET', key)).toBe('18')
})

test('a delay keeps the order of requests', async () => {
  const { client, key, proxy } = await setup()
  proxy.delay(200)
  const before = proxy.requests
  const slow = client.rpush(key, 'first')
  await until('the proxy has it', async () => proxy.requests > before)
  proxy.delay(0)
  const quick = client.rpush(key, 'second')

  expect(await Promise.all([slow, quick])).toEqual([1, 2])
  expect(await client.lrange(key, 0, -1)).toEqual(['first', 'second'])
  await client.del(key)
})

test('a connection to a stopped server closes', async () => {
  const proxy = await startProxy(1)
  onTestFinished(() => proxy.stop())
  const socket: Socket = connect(proxy.port, '127.0.0.1')
  socket.on('error', () => {})

  await once(socket, 'close')

  expect(proxy.connections).toBe(1)
})

test('requests are separated wherever the stream is cut', () => {
  const requests = ['*1\r\n$4\r\nPING\r\n', '*2\r\n$3\r\nGET\r\n$4\r\n\r\n*1\r\n', '*1\r\n$0\r\n\r\n']
  const stream = Buffer.from(requests.join(''))

  for (let size = 1; size <= stream.length; size++) {
    const reader = new RequestReader()
    const found: string[] = []
    for (let at = 0; at < stream.length; at += size) {
      found.push(...reader.read(stream.subarray(at, at + size)).map(String))
    }
    expect(found).toEqual(requests)
  }
})
