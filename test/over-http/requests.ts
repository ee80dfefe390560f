// Requests of the tenant of the test, by paths under /v1.

import type { FeedApi } from '../../server/testing/feed-api.ts'
import type { HttpAnswer } from '../../server/testing/test-app.ts'
import { refusedBy } from './outcome.ts'

export const TENANT = 'test'

/** The members of a query: undefined ones are not sent, a list has commas. */
export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

// oxlint-disable-next-line typescript/no-explicit-any -- answers of any shape
type Json = any

/** Each resolves to the JSON of the answer, null where it has none; and rejects with Refused for a problem. */
export class Requests {
  readonly #api: FeedApi

  constructor(api: FeedApi) {
    this.#api = api
  }

  async get(path: string, query: Query = {}): Promise<Json> {
    return jsonOf(await this.send('GET', path, query))
  }

  async post(path: string, body?: unknown, query: Query = {}): Promise<Json> {
    return jsonOf(await this.send('POST', path, query, body))
  }

  async put(path: string, body?: unknown, query: Query = {}): Promise<Json> {
    return jsonOf(await this.send('PUT', path, query, body))
  }

  async patch(path: string, body?: unknown, query: Query = {}): Promise<Json> {
    return jsonOf(await this.send('PATCH', path, query, body))
  }

  async delete(path: string, query: Query = {}): Promise<Json> {
    return jsonOf(await this.send('DELETE', path, query))
  }

  /** The answer; rejects with Refused for a problem. */
  async sent(method: string, path: string, query: Query, body: unknown): Promise<HttpAnswer> {
    const answer = await this.send(method, path, query, body)
    jsonOf(answer)
    return answer
  }

  /** The answer, whatever it is. */
  send(method: string, path: string, query: Query = {}, body?: unknown): Promise<HttpAnswer> {
    const members = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}=${written(value)}`],
    )
    const asked = members.length === 0 ? '' : `?${members.join('&')}`
    return this.#api.call(method, `/v1${path}${asked}`, {
      project: TENANT,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  }
}

/** A comma between two of a list is not encoded, one in them is. */
function written(value: NonNullable<Query[string]>): string {
  return (Array.isArray(value) ? value : [value]).map((each) => encodeURIComponent(String(each))).join(',')
}

function jsonOf({ status, json }: HttpAnswer): Json {
  if (status >= 400) throw refusedBy(status, json as { code: string; reason?: string; argument?: string })
  return json as unknown
}
