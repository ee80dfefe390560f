import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { ask } from '../test/servers/ask.ts'
import { startProxy } from '../test/servers/proxy.ts'
import { type RedisServer, startRedis } from '../test/servers/redis.ts'
import { type Service, startService } from './service.ts'
import { StartError } from './process/environment.ts'
import { openSocket, send } from './testing/raw-request.ts'

const HEADERS = { 'Client-ID': '3381af92-2b9e-11e3-b191-71861300734c', 'X-Project-ID': 'p' }
const MESSAGE = JSON.stringify({ messages: [{ body: 1 }] })

let redis: RedisServer
beforeAll(async () => {
  redis = await startRedis({ args: ['--requirepass', 'secret'] })
})
afterAll(() => redis.stop())

const start = (environment: Record<string, string>): Promise<Service> => {
  const REDIS_URL = `redis://:secret@127.0.0.1:${redis.port}`
  return startService({ REDIS_URL, PORT: '0', LOG_LEVEL: 'silent', ...environment }, () => undefined)
}

const post = (url: string): Promise<Response> =>
  fetch(`${url}/v2/queues/q/messages`, { method: 'POST', headers: HEADERS, body: MESSAGE })

async function failureOf(environment: Record<string, string>): Promise<string> {
  const error: unknown = await start(environment).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(StartError)
  return error instanceof Error ? error.message : ''
}

test('a service serves from its start to its end', async () => {
  const service = await start({})
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
  expect((await post(service.url)).status).toBe(201)

  await Promise.all([service.close(), service.close()])

  await expect(fetch(`${service.url}/livez`)).rejects.toThrow('fetch failed')
})

test('closing accepts no more connections and lets running requests finish', async () => {
  const proxy = await startProxy(redis.port)
  const service = await start({ REDIS_URL: `redis://:secret@127.0.0.1:${proxy.port}` })
  await post(service.url)
  proxy.delay(200)

  const before = proxy.bytesToServer
  const underWay = post(service.url)
  while (proxy.bytesToServer === before) await new Promise(setImmediate)
  const closing = service.close()
  const refused = await post(service.url).then(
    (answer) => answer.status,
    () => 'refused',
  )
  const answer = await underWay
  await closing

  expect(answer.status).toBe(201)
  expect([503, 'refused']).toContain(refused)
  await proxy.stop()
})

test('closing processes no request after the last one that is answered', async () => {
  const proxy = await startProxy(redis.port)
  const service = await start({ REDIS_URL: `redis://:secret@127.0.0.1:${proxy.port}` })
  const socket = await openSocket(service.url)
  await fetch(`${service.url}/readyz`)
  proxy.delay(200)

  const before = proxy.bytesToServer
  send(socket, { path: '/v1/locks/l' })
  while (proxy.bytesToServer === before) await new Promise(setImmediate)
  const headers = ['Content-Type: application/json']
  send(socket, { method: 'POST', path: '/v1/feeds/behind/messages', headers, body: '{"body":1}' })
  await sleep(50)
  const closing = service.close()
  let received = ''
  socket.on('data', (piece) => (received += String(piece)))
  await Promise.all([once(socket, 'close'), closing])
  await proxy.stop()

  const later = await start({})
  onTestFinished(() => later.close())
  expect(received.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 200'])
  expect((await fetch(`${later.url}/v1/feeds/behind`)).status).toBe(404)
})

test('closing lets clients read large answers to their ends', async () => {
  const service = await start({})
  const messages = [{ body: 'x'.repeat(4_000_000) }]
  await fetch(`${service.url}/v1/feeds/large/messages`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ messages }),
  })
  const socket = await openSocket(service.url)
  send(socket.pause(), { path: '/v1/feeds/large/messages?limit=1000' })
  let text = ''
  while (text === '') {
    await sleep(10)
    text += String(socket.read(100) ?? '')
  }

  const closing = service.close()
  // Some megabytes are in the kernel already, the rest is not.
  await sleep(300)
  socket.on('data', (piece) => (text += String(piece))).resume()
  await Promise.all([once(socket, 'close'), closing])

  expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n'))).messages[0].body).toHaveLength(4_000_000)
})

test('a port that is taken is reported in one line', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const address = taken.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0

  const message = await failureOf({ PORT: String(port) })

  expect(message).toBe(`port ${port} on 127.0.0.1 is taken: set PORT to another one`)
  taken.close()
})

test('a host of another machine is reported in one line', async () => {
  expect(await failureOf({ HOST: '192.0.2.1' })).toMatch(/^cannot listen on 192\.0\.2\.1 port 0: \w+$/)
})

test('a Redis that cannot be reached, and a wrong password, are reported in one line without the password', async () => {
  for (const place of ['s3cr3t@127.0.0.1:1', `s3cr3t@127.0.0.1:${redis.port}`]) {
    const message = await failureOf({ REDIS_URL: `redis://:${place}` })
    expect(message).not.toMatch(/s3cr3t|\n/)
    expect(message).toContain(place.split('@')[1])
  }
})

test('invalid settings stop the service before anything starts', async () => {
  expect(await failureOf({ PORT: 'http' })).toMatch(/^PORT must be/)
})

test('a user of Redis without the rights that the scripts need causes a warning', async () => {
  const open = await startRedis()
  onTestFinished(() => open.stop())
  await ask(open.port, 'ACL', 'SETUSER', 'weak', 'on', '>weak', '~*', '+ping', '+info')
  const service = await start({ REDIS_URL: `redis://weak:weak@127.0.0.1:${open.port}` })

  expect(service.engine.warnings).toContainEqual(
    'not ready: this user of Redis may not run HDEL; docs/compatibility.md names what it needs',
  )
  expect((await fetch(`${service.url}/readyz`)).status).toBe(503)
  await service.close()
})
