import type { App } from '../../http/fastify.ts'
import type { Limits } from '../settings/limits.ts'
import { type JsonObject, parseObject, textOfBody } from '../requests/body.ts'
import { projectOf } from '../requests/headers.ts'
import { QueuePath } from '../requests/names.ts'
import type { Signer } from '../requests/signed-url.ts'
import { badRequest } from '../../http/answers/problems.ts'
import { queuePath } from './encode.ts'

export function zaqarShare(app: App, signer: Signer, limits: Limits): void {
  const options = { schema: { params: QueuePath }, bodyLimit: limits.maxOtherBody }
  app.post('/queues/:queue/share', options, async ({ params, headers, body }) => {
    const { expiresAtMs, ...share } = readShare(params.queue, textOfBody(body), Date.now())
    return signer.sign({ ...share, project: projectOf(headers) }, expiresAtMs)
  })
}

export interface SharedPaths {
  readonly paths: readonly string[]
  readonly methods: readonly string[]
  /** Unix milliseconds. */
  readonly expiresAtMs: number
}

const KEYS = new Set(['paths', 'methods', 'expires'])
const PATHS = ['messages', 'claims', 'subscriptions']
const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE']
const DAY_MS = 86_400_000

/** Throws a Problem. */
function readShare(queue: string, text: string, nowMs: number): SharedPaths {
  const wanted = text === '' ? {} : parseObject(text)
  const unknown = Object.keys(wanted).find((key) => !KEYS.has(key))
  if (unknown !== undefined)
    throw badRequest(`${unknown} is not known here; known are ${[...KEYS].join(', ')}.`)
  return {
    paths: listOf(wanted, 'paths', PATHS, 'messages').map((path) => `${queuePath(queue)}/${path}`),
    methods: listOf(wanted, 'methods', METHODS, 'GET'),
    expiresAtMs: readExpiry(wanted['expires'], nowMs),
  }
}

function listOf(wanted: JsonObject, name: string, known: readonly string[], byDefault: string): string[] {
  const value = wanted[name] ?? [byDefault]
  if (!Array.isArray(value) || value.length === 0 || !value.every((item) => known.includes(item))) {
    throw badRequest(`${name} must be a list of some of ${known.join(', ')}.`)
  }
  return [...new Set<string>(value)]
}

const TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:?\d\d)?$/

function readExpiry(value: unknown, nowMs: number): number {
  if (value === undefined || value === null) return nowMs + DAY_MS
  const [, date, time, , zone = 'Z'] = (typeof value === 'string' && TIME.exec(value)) || []
  const at = Date.parse(`${date}T${time}${zone.replace(/(\d\d)(\d\d)$/, '$1:$2')}`)
  if (Number.isNaN(at)) throw badRequest('expires must be a time such as 2030-01-31T12:00:00, in UTC.')
  if (at <= nowMs) throw badRequest('expires must be in the future.')
  return at
}
