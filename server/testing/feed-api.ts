// The native feed API under test. Every answer is checked against the description that the service serves.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TSchema } from '@fastify/type-provider-typebox'
import { Compile, type Validator } from 'typebox/compile'
import { type HttpAnswer, type CallOptions, startApp, type TestApp, type TestAppOptions } from './test-app.ts'

const VALIDATORS = new WeakMap<TSchema, Validator>()

interface DescribedAnswer {
  readonly description?: string
  readonly content?: Readonly<Record<string, { readonly schema: TSchema }>>
}

export interface DescribedRoute {
  readonly responses: Readonly<Record<string, DescribedAnswer>>
  readonly parameters: readonly {
    readonly in: string
    readonly name: string
    readonly description?: string
  }[]
  /** Of routes that take a body. */
  readonly requestBody?: object
}

interface Description {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedRoute>>>>
}

export interface FeedApi extends TestApp {
  readonly description: Description
  /** The path of an unused feed. */
  newFeed(): string
  /** Appends messages with these bodies; returns their ids and markers. */
  append(feed: string, ...bodies: unknown[]): Promise<{ id: string; cursor: string }[]>
  /** Resolves once a request waits for the feed, or, with `expected` false, once none does. */
  whenWaiting(feed: string, expected?: boolean): Promise<void>
}

export async function startFeedApi(redisPort: number, options: TestAppOptions = {}): Promise<FeedApi> {
  const app = await startApp(redisPort, options)
  const description: Description = (await app.call('GET', '/v1/openapi.json')).json
  const call = async (method: string, path: string, sent: CallOptions = {}): Promise<HttpAnswer> => {
    const answer = await app.call(method, path, { ...sent, headers: { 'Client-ID': null, ...sent.headers } })
    checkAnswer(description, method, path, answer)
    return answer
  }
  return {
    ...app,
    description,
    call,
    newFeed: () => `/v1/feeds/${randomUUID()}`,
    append: async (feed, ...bodies) => {
      const messages = bodies.map((body) => ({ body }))
      return (await call('POST', `${feed}/messages`, { body: { messages } })).json.messages
    },
    async whenWaiting(feed, expected = true) {
      const pattern = `*${feed.split('/').at(-1)}*`
      while ((await app.client.pubsub('CHANNELS', pattern)).length > 0 !== expected) await sleep(5)
    },
  }
}

/** The bodies of a page or a claim. */
export function bodiesOf({ json }: HttpAnswer): unknown[] {
  return json.messages.map(({ body }: { body: unknown }) => body)
}

/** Throws if the description of its route does not have this answer. */
function checkAnswer(description: Description, method: string, path: string, answer: HttpAnswer): void {
  const route = findRoute(description, method, path)
  if (route === null) return
  const what = `${method} ${path} ${answer.status} ${answer.text}`
  const described = route.responses[answer.status]
  if (described === undefined) throw new Error(`not described: ${what}`)
  const type = answer.headers.get('content-type')?.split(';', 1)[0]
  const schema = described.content?.[type ?? '']?.schema
  if (described.content === undefined ? answer.text !== '' : schema === undefined) {
    throw new Error(`described with another content: ${what}`)
  }
  if (schema === undefined) return
  const [finding] = validatorOf(schema).Errors(answer.json)
  if (finding !== undefined) throw new Error(`${finding.instancePath} ${finding.message}: ${what}`)
}

/** Compiling a schema takes longer than most requests. */
function validatorOf(schema: TSchema): Validator {
  const validator = VALIDATORS.get(schema) ?? Compile(schema)
  VALIDATORS.set(schema, validator)
  return validator
}

/** Null if nothing is described: unknown paths, and methods that a path does not have. */
function findRoute({ paths }: Description, method: string, path: string): DescribedRoute | null {
  const parts = path.split('?', 1)[0]?.split('/') ?? []
  const found = Object.entries(paths).find(([template]) => {
    const wanted = template.split('/')
    return (
      wanted.length === parts.length && wanted.every((part, at) => part.startsWith('{') || part === parts[at])
    )
  })
  return found?.[1][method.toLowerCase()] ?? null
}
