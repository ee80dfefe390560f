// Shared by the tests of the middleware: a store of its own for each, and a client.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type Once, type OnceOptions, type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import type { StoredResponse } from 'perilune/middleware'
import { inject, onTestFinished } from 'vitest'

export interface Setup {
  redis: Perilune
  once: Once<StoredResponse>
}

export function setup(options: OnceOptions<StoredResponse> = {}): Setup {
  const client = new Redis(inject('redisPort'))
  const redis = perilune(ioredis(client), { namespace: 'middleware-test' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return { redis, once: redis.once<StoredResponse>(randomUUID(), options) }
}

/** A Redis address without a server. */
export function unreachable(): Perilune {
  const client = new Redis({ port: 1, lazyConnect: true, retryStrategy: () => 50 })
  client.on('error', () => undefined)
  const redis = perilune(ioredis(client), { deadline: '50ms' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return redis
}

export function post(key: string | null, body = '{"item":1}', path = '/orders'): Request {
  const headers = new Headers({ 'content-type': 'application/json' })
  if (key !== null) headers.set('idempotency-key', key)
  return new Request(`http://localhost${path}`, { method: 'POST', headers, body })
}

/** The response as a client sees it. */
export interface Seen {
  status: number
  body: string
  replayed: string | null
}

export async function seen(response: Response): Promise<Seen> {
  const replayed = response.headers.get('idempotency-replayed')
  return { status: response.status, body: await response.text(), replayed }
}

/** The code of a problem document. */
export async function codeOf(response: Response): Promise<string> {
  const document: unknown = await response.json()
  return String((document as { code: unknown }).code)
}
