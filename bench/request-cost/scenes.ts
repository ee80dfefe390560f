// The dearest requests that are permitted, and what has to be there before.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface Scene {
  readonly name: string
  /** May return how to end what it began. */
  prepare?(place: ScenePlace): Promise<void | (() => void)>
  request(place: ScenePlace): Promise<void>
}

/** A project of its own on a service. */
export interface ScenePlace {
  call(method: string, path: string, body?: unknown): Promise<Answered>
  /** Reads an answer that does not end, until the signal aborts. */
  follow(path: string, signal: AbortSignal): Promise<void>
  /** Of subscribers that take everything. */
  readonly receiver: string
}

export interface Answered {
  readonly status: number
  readonly text: string
}

const MOST = 262_144
const QUEUE = '/v2/queues/q'
const FEED = '/v1/feeds/f/messages'
const LARGEST = (part: string): string => part.repeat(Math.floor(4_190_000 / part.length))
const PLACE = '"$zaqar_message$"'
const large = { messages: [{ body: 'x'.repeat(MOST - 100) }] }
const many = { messages: Array.from({ length: 1000 }, () => ({ body: 1 })) }
const postLarge = expecting(201, 'POST', `${QUEUE}/messages`, large)
const postMany = expecting(201, 'POST', `${QUEUE}/messages`, many)

export const scenes: readonly Scene[] = [
  { name: 'a post of 1,000 messages', request: postMany },
  { name: 'a post of 256 KiB', request: postLarge },
  {
    name: 'a post of 1,000 messages to 100 subscriptions',
    prepare: (place) => subscribe(place, 100, {}),
    request: postMany,
  },
  {
    name: 'a post of 256 KiB to 100 subscriptions',
    prepare: (place) => subscribe(place, 100, {}),
    request: postLarge,
  },
  {
    name: 'a post of 256 KiB to 100 subscriptions that hold it three times',
    prepare: (place) => subscribe(place, 100, { post_data: `[${PLACE},${PLACE},${PLACE}]` }),
    request: postLarge,
  },
  {
    name: 'a page of 20 subscriptions with 60 KiB of options',
    prepare: (place) => subscribe(place, 20, { post_data: 'x'.repeat(60_000) }),
    request: expecting(200, 'GET', `${QUEUE}/subscriptions?limit=20`),
  },
  {
    name: 'a page of 20 messages of 256 KiB',
    prepare: (place) => repeat(20, () => postLarge(place)),
    request: expecting(200, 'GET', `${QUEUE}/messages?limit=20&echo=true`),
  },
  {
    name: 'a page that looks through 10,000 messages of its reader',
    prepare: (place) => repeat(13, () => postMany(place)),
    request: expecting(200, 'GET', `${QUEUE}/messages?limit=20`),
  },
  {
    name: 'a claim of 20 messages of 256 KiB',
    prepare: (place) => repeat(20, () => postLarge(place)),
    request: expecting(201, 'POST', `${QUEUE}/claims?limit=20`, {}),
  },
  {
    name: 'a body of 4 MiB of brackets, which is refused',
    request: expecting(400, 'POST', FEED, LARGEST('[')),
  },
  {
    name: 'a message of 4 MiB of records',
    request: expecting(
      201,
      'POST',
      FEED,
      `{"body":[${LARGEST('{"id":12345678,"name":"abcdefghij, or so","on":true},')}1]}`,
    ),
  },
  {
    name: 'a message of 3 MiB of numbers with exponents, in a list of one',
    request: expecting(201, 'POST', FEED, `{"messages":[{"body":[${'1e23,'.repeat(550_000)}1]}]}`),
  },
  {
    name: 'a body of 4 MiB of different short texts, which is refused',
    request: expecting(400, 'POST', FEED, `{"body":[${shortTexts()}]}`),
  },
  {
    name: 'a message of 4 MiB of one text',
    request: expecting(201, 'POST', FEED, `{"body":"${LARGEST('x')}"}`),
  },
  {
    name: 'a message of 4 MiB of words, looked at as the oldest and the newest of its feed',
    prepare: expecting(201, 'POST', FEED, `{"body":[${LARGEST('null,')}1]}`),
    request: expecting(200, 'GET', '/v1/feeds/f'),
  },
  {
    name: 'a hundred jobs with a hundred dependencies each',
    request: expecting(201, 'POST', '/v1/queues/q/jobs', {
      jobs: Array.from({ length: 100 }, dependentOfMany),
    }),
  },
  {
    name: 'a collection of a hundred thousand items',
    request: expecting(200, 'PUT', '/v1/collections/list/c', {
      items: Array.from({ length: 100_000 }, (_, id) => ({ id, name: 'an item' })),
    }),
  },
  {
    name: 'a thousand jobs with a hundred followers of the events of their queue',
    prepare: (place) => followEvents(place, 100),
    request: expecting(201, 'POST', '/v1/queues/q/jobs', {
      jobs: Array.from({ length: 1000 }, () => ({ name: 'n', payload: 1 })),
    }),
  },
  {
    name: 'a page of four messages of 1 MiB',
    prepare: (place) => repeat(4, () => expecting(201, 'POST', FEED, { body: 'x'.repeat(1_040_000) })(place)),
    request: expecting(200, 'GET', `${FEED}?limit=1000`),
  },
]

function dependentOfMany(): object {
  return { name: 'n', payload: 1, dependsOn: Array.from({ length: 100 }, (_, at) => `p${at}`) }
}

function shortTexts(): string {
  return Array.from({ length: 500_000 }, (_, at) => `"${at.toString(36)}"`).join(',')
}

function expecting(wanted: number, method: string, path: string, body?: unknown): Scene['request'] {
  return async ({ call }) => {
    const { status, text } = await call(method, path, body)
    if (status !== wanted) throw new Error(`${method} ${path}: ${status} ${text.slice(0, 200)}`)
  }
}

async function subscribe({ call, receiver }: ScenePlace, count: number, options: object): Promise<void> {
  const path = `${QUEUE}/subscriptions`
  await repeat(count, async (at) => {
    const { text } = await call('POST', path, { subscriber: `${receiver}/${at}`, options })
    const { subscription_id: id } = JSON.parse(text) as { subscription_id: string }
    await call('PUT', `${path}/${id}/confirm`, { confirmed: true })
  })
}

async function followEvents({ follow }: ScenePlace, count: number): Promise<() => void> {
  const end = new AbortController()
  await Promise.all(Array.from({ length: count }, () => follow('/v1/queues/q/events', end.signal)))
  return () => end.abort()
}

async function repeat(count: number, work: (at: number) => Promise<void>): Promise<void> {
  for (let at = 0; at < count; at += 1) await work(at)
}

export function placeOn(url: string, receiver: string, project: string): ScenePlace {
  const headers = {
    'Client-ID': '3381af92-2b9e-11e3-b191-71861300734c',
    'X-Project-ID': project,
    'Content-Type': 'application/json',
  }
  return {
    receiver,
    async follow(path, signal) {
      const { body } = await fetch(url + path, { headers, signal })
      body?.pipeTo(new WritableStream()).catch(() => undefined)
    },
    async call(method, path, body) {
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      const sent = body === undefined ? {} : { body: text }
      const answer = await fetch(url + path, { method, headers, ...sent })
      return { status: answer.status, text: await answer.text() }
    },
  }
}

/** A receiver in a process of its own, so that its work is not measured. */
export async function startReceiver(): Promise<{ url: string; process: ChildProcess }> {
  const dependent = fork(fileURLToPath(new URL('receiver.mjs', import.meta.url)))
  const [port] = (await once(dependent, 'message')) as [number]
  return { url: `http://127.0.0.1:${port}`, process: dependent }
}
