// Each scheme and host has kept responses of its own, however a request names its host.

import { once as event } from 'node:events'
import { createServer, request, type RequestListener } from 'node:http'
import { connect } from 'node:http2'
import { createRequire } from 'node:module'
import { type AddressInfo, connect as connectTcp } from 'node:net'
import { randomUUID } from 'node:crypto'
import fastify from 'fastify'
import type { Cache } from 'perilune'
import * as forExpress from 'perilune/express'
import * as forFastify from 'perilune/fastify'
import type { KeptResponse } from 'perilune/middleware'
import { describe, expect, onTestFinished, test } from 'vitest'
import { instance } from '../instance.ts'

// Express has no types of its own.
interface ExpressApp extends RequestListener {
  set(name: string, value: unknown): void
  get(
    path: string,
    middleware: unknown,
    handler: (
      request: { protocol: string; host: string; path: string; headers: Record<string, string> },
      response: { send(body: string): void },
    ) => void,
  ): void
}
const express: () => ExpressApp = createRequire(import.meta.url)('express')

/** Serves every path, each with its host and path; resolves to the port. */
type Start = (pages: Cache<KeptResponse>) => Promise<number>

async function startExpress(pages: Cache<KeptResponse>): Promise<number> {
  const app = express()
  app.set('trust proxy', true)
  app.get('/scheme', forExpress.responseCache(pages), ({ protocol }, response) => response.send(protocol))
  app.get('/filter', forExpress.responseCache(pages), ({ headers }, response) =>
    response.send(String(headers['x-filter'])),
  )
  app.get('/{*path}', forExpress.responseCache(pages), ({ host, path }, response) =>
    response.send(`${host} ${path}`),
  )
  const server = createServer(app).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await event(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function startFastify(pages: Cache<KeptResponse>): Promise<number> {
  const app = fastify({ trustProxy: true, forceCloseConnections: true })
  app.get('/scheme', { ...forFastify.responseCache(pages) }, async ({ protocol }) => protocol)
  app.get('/filter', { ...forFastify.responseCache(pages) }, async ({ headers }) =>
    String(headers['x-filter']),
  )
  app.get('/*', { ...forFastify.responseCache(pages) }, async ({ host, url }) => `${host} ${url}`)
  onTestFinished(() => app.close())
  return Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port)
}

const pagesOf = (): Cache<KeptResponse> => instance().redis.cache<KeptResponse>(randomUUID(), { ttl: '1h' })

async function ask(port: number, headers: Record<string, string>, path = '/', content = ''): Promise<string> {
  const asking = request({ host: '127.0.0.1', port, path, headers, agent: false }).end(content)
  const [answer] = (await event(asking, 'response')) as [AsyncIterable<Buffer>]
  let body = ''
  for await (const bytes of answer) body += String(bytes)
  return body
}

/** A host that clients of Node refuse to send. */
async function askRaw(port: number, host: string, path: string): Promise<string> {
  const socket = connectTcp(port, '127.0.0.1')
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  let answer = ''
  for await (const bytes of socket) answer += String(bytes)
  return answer.slice(answer.indexOf('\r\n\r\n') + 4)
}

const frameworks: [framework: string, start: Start][] = [
  ['Express', startExpress],
  ['Fastify', startFastify],
]

describe.each(frameworks)('%s', (_, start) => {
  test('keeps pages by the host that a trusted proxy reports', async () => {
    const port = await start(pagesOf())

    for (const host of ['a.example', 'b.example', 'a.example'])
      expect(await ask(port, { host: 'backend', 'x-forwarded-host': host })).toBe(`${host} /`)
  })

  test('keeps pages by the scheme that a trusted proxy reports', async () => {
    const port = await start(pagesOf())

    for (const scheme of ['http', 'https', 'http'])
      expect(await ask(port, { host: 'a.example', 'x-forwarded-proto': scheme }, '/scheme')).toBe(scheme)
  })

  test('does not keep the response to a GET with a body, and serves it none', async () => {
    const port = await start(pagesOf())
    const asking = (body: string) =>
      ask(
        port,
        { host: 'a.example', 'content-length': String(body.length), 'x-filter': body },
        '/filter',
        body,
      )

    expect(await asking('ada')).toBe('ada')
    expect(await asking('bob')).toBe('bob')
    expect(await ask(port, { host: 'a.example' }, '/filter')).toBe('undefined')
  })

  test('does not take a host with a path for the page at that path', async () => {
    const port = await start(pagesOf())

    expect(await askRaw(port, 'a.example/admin', '/page')).toContain('/page')
    expect(await askRaw(port, 'a.example', '/admin/page')).toBe('a.example /admin/page')
  })

  test('keeps pages under scheme, host and path, so that they can be invalidated', async () => {
    const pages = pagesOf()
    const port = await start(pages)
    await ask(port, { host: 'a.example:81' }, '/page?q=1')

    await expect
      .poll(() => pages.getEntry('http://a.example:81/page?q=1'))
      .toMatchObject({ value: { status: 200 } })
  })
})

test('Fastify over HTTP/2 keeps pages by host', async () => {
  const app = fastify({ http2: true })
  app.get('/', { ...forFastify.responseCache(pagesOf()) }, async ({ host }) => host)
  onTestFinished(() => app.close())
  const client = connect(await app.listen({ port: 0, host: '127.0.0.1' }))
  onTestFinished(() => client.destroy())

  for (const host of ['a.example', 'b.example', 'a.example']) {
    const asking = client.request({ ':path': '/', ':authority': host })
    let body = ''
    asking.on('data', (bytes) => (body += String(bytes)))
    await event(asking, 'close')
    expect(body).toBe(host)
  }
})
