// Apps that share a store below paths of their own. The framework around them shortens the URLs that they see.

import { randomUUID } from 'node:crypto'
import { once as event } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { idempotency, responseCache } from 'perilune/hono'
import type { KeptResponse } from 'perilune/middleware'
import { describe, expect, onTestFinished, test } from 'vitest'
import { setup } from './fixture.ts'

interface ExpressApp extends RequestListener {
  use(path: string, ...handlers: unknown[]): void
}
const express: () => ExpressApp = createRequire(import.meta.url)('express')

/** Declared, because the listener returns a promise. */
const alone = ({ fetch: handle }: Hono): RequestListener => getRequestListener(handle)

const around = {
  Hono: ([a, b]: readonly [Hono, Hono]): RequestListener =>
    getRequestListener(new Hono().mount('/a', a.fetch).mount('/b', b.fetch).fetch),
  Express: ([a, b]: readonly [Hono, Hono]): RequestListener => {
    const app = express()
    app.use('/a', getRequestListener(a.fetch))
    app.use('/b', getRequestListener(b.fetch))
    return app
  },
}

function shop(name: string, { once, cache }: ReturnType<typeof stores>): Hono {
  const app = new Hono()
  app.use(idempotency(once), responseCache(cache))
  return app.all('*', (context) => context.text(name))
}

function stores() {
  const { redis, once } = setup()
  return { once, cache: redis.cache<KeptResponse>(randomUUID()) }
}

async function listening(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await event(server, 'listening')
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${url}${path}`, init)
    return [response.status, response.ok ? await response.text() : null]
  }
}

const ordered = { method: 'POST', headers: { 'idempotency-key': 'k' } }

describe.each(['Hono', 'Express'] as const)(
  'on Node, two apps that %s mounts with the same stores',
  (which) => {
    async function started() {
      const both = stores()
      return listening(around[which]([shop('a', both), shop('b', both)]))
    }

    test('serve the kept responses of their own paths only', async () => {
      const ask = await started()

      for (const path of ['/a/tea', '/b/tea', '/a/tea', '/b/tea']) {
        expect(await ask(path)).toEqual([200, path.charAt(1)])
      }
    })

    test('do not replay the response of the other to the same idempotency key', async () => {
      const ask = await started()

      expect(await ask('/a/orders', ordered)).toEqual([200, 'a'])
      expect(await ask('/b/orders', ordered)).toEqual([422, null])
      expect(await ask('/a/orders', ordered)).toEqual([200, 'a'])
    })
  },
)

test('where the whole path is unknown, `key` and `subject` distinguish mounted apps', async () => {
  const { once, cache } = stores()
  const named = (name: string): Hono => {
    const own = (request: Request): string => `${name} ${request.url}`
    const app = new Hono()
    app.use(idempotency(once, { subject: () => name }), responseCache(cache, { key: own }))
    return app.all('*', (context) => context.text(name))
  }
  const app = new Hono().mount('/a', named('a').fetch).mount('/b', named('b').fetch)
  const text = async (path: string, init?: RequestInit): Promise<string> =>
    (await app.request(path, init)).text()

  expect([await text('/a/tea'), await text('/b/tea')]).toEqual(['a', 'b'])
  expect([await text('/a/orders', ordered), await text('/b/orders', ordered)]).toEqual(['a', 'b'])
})

test('on Node, requests that a handler makes of its own app do not wait for its own response', async () => {
  const { redis } = setup()
  const cache = redis.cache<KeptResponse>(randomUUID())
  const app = new Hono()
  let runs = 0
  app.get('/page', responseCache(cache), (context) => {
    runs += 1
    return context.text(`page ${runs}`)
  })
  app.get('/outer', async (context) => {
    const pageOnce = async (): Promise<string> => (await app.request('/page', {}, context.env)).text()
    return context.text([await pageOnce(), await pageOnce()].join(', '))
  })
  const ask = await listening(alone(app))

  expect(await ask('/outer')).toEqual([200, 'page 1, page 1'])
  // Kept as a part of the outer page: other code may have rewritten the path.
  expect(await ask('/page')).toEqual([200, 'page 2'])
})
