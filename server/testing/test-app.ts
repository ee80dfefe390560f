// The routes on a real Redis and a real port, under a namespace of their own.

import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import { type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { buildApp } from '../app.ts'
import { countersAtWork } from '../counters/at-work.ts'
import { readCountersEntries } from '../counters/entry.ts'
import { openTables } from '../counters/open-counters.ts'
import { type Limits, zaqarLimits } from '../zaqar/settings/limits.ts'
import { Readiness } from '../health/readiness.ts'
import { openClient } from '../engine/client.ts'
import { sharesOf } from '../http/answers/shares.ts'
import type { LogTarget } from '../http/fastify.ts'
import { Unsent } from '../http/answers/unsent.ts'
import type { FeedLimits } from '../v1/api/limits.ts'
import { readZaqarSettings } from '../zaqar/settings/settings.ts'

export interface HttpAnswer {
  readonly status: number
  readonly headers: Headers
  /** The unchanged text. */
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of any shape
  readonly json: any
}

export interface CallOptions {
  /** Text and bytes are sent unchanged, anything else as JSON. */
  readonly body?: unknown
  readonly project?: string
  readonly client?: string
  /** Null leaves a header out. */
  readonly headers?: Readonly<Record<string, string | null>>
}

export interface TestApp extends AsyncDisposable {
  readonly url: string
  readonly client: Redis
  readonly perilune: Perilune
  call(method: string, path: string, options?: CallOptions): Promise<HttpAnswer>
}

export const ALICE = '3381af92-2b9e-11e3-b191-71861300734c'
export const BOB = '4581af92-2b9e-11e3-b191-71861300734d'

export interface TestAppOptions {
  readonly limits?: Partial<Limits>
  readonly feedLimits?: Partial<FeedLimits>
  readonly requestTimeoutMs?: number
  readonly unsent?: Unsent
  /** In the form of PERILUNE_COUNTERS; only requests flush them. */
  readonly counters?: object
  /** Apps of one namespace act as processes of one service. */
  readonly namespace?: string
  readonly deadline?: '5s' | '1s'
  /** Receives all lines of the log; by default there is no log. */
  readonly logTarget?: LogTarget
}

export async function startApp(redisPort: number, options: TestAppOptions = {}): Promise<TestApp> {
  const { limits = {}, namespace = `t-${randomUUID()}`, deadline = '5s', counters = {}, ...rest } = options
  const { unsent = new Unsent(), ...parts } = rest
  const client = openClient(`redis://127.0.0.1:${redisPort}`, () => undefined)
  const redis = perilune(ioredis(client), { namespace, deadline, shares: sharesOf(unsent) })
  const tables = await openTables(readCountersEntries({ PERILUNE_COUNTERS: JSON.stringify(counters) }))
  const atWork = countersAtWork(redis, tables, () => undefined)
  const readiness = new Readiness(client, redis, atWork.needs, () => null, namespace)
  await readiness.reason()
  const app = buildApp({
    perilune: redis,
    unsent,
    readiness,
    counters: atWork.counters,
    zaqar: readZaqarSettings(process.env, { ...zaqarLimits, ...limits }),
    ...parts,
    logLevel: options.logTarget === undefined ? 'silent' : 'info',
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    url,
    client,
    perilune: redis,
    call: (method, path, sent = {}) => send(url + path, method, sent),
    async [Symbol.asyncDispose]() {
      await app.close()
      await redis.close()
      client.disconnect()
      await tables.close()
    },
  }
}

async function send(url: string, method: string, options: CallOptions): Promise<HttpAnswer> {
  const answer = await fetch(url, { method, headers: headersOf(method, options), ...bodyOf(options.body) })
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, text, json: text === '' ? null : JSON.parse(text) }
}

function headersOf(
  method: string,
  { project = 'test', client = ALICE, headers = {}, body }: CallOptions,
): Record<string, string> {
  const all = {
    'Client-ID': client,
    'X-Project-ID': project,
    ...(body === undefined && method !== 'POST' ? {} : { 'Content-Type': 'application/json' }),
    ...headers,
  }
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null)
  return Object.fromEntries(given)
}

function bodyOf(body: unknown): { body?: string | Uint8Array<ArrayBuffer> } {
  if (body === undefined) return {}
  if (typeof body === 'string') return { body }
  return { body: body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body) }
}
