// The service: votes in, counts out, and a page to watch them.

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Live } from './live.ts'
import { Photographer } from './picture.ts'
import type { Poll } from './poll.ts'

const PAGE = readFileSync(new URL('page.html', import.meta.url))
const HOST = '127.0.0.1'
const VOTES = /^\/items\/(\d{1,9})\/votes$/
const USER = /^[\w.-]{1,64}$/
const LONGEST_BODY = 1000

export class Service implements AsyncDisposable {
  readonly #poll: Poll
  readonly #live: Live
  readonly #server: Server

  constructor(poll: Poll) {
    this.#poll = poll
    const photographer = new Photographer(poll)
    this.#live = new Live(() => photographer.take())
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => refuse(response, 503, String(error)))
    })
  }

  /** Resolves to its address; port 0 takes a free one. */
  async listen(port: number): Promise<string> {
    this.#server.listen(port, HOST)
    await once(this.#server, 'listening')
    return `http://${HOST}:${(this.#server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close()
    await this.#live.close()
    this.#server.closeAllConnections()
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [pathname = '/'] = (request.url ?? '/').split('?')
    const [, item] = VOTES.exec(pathname) ?? []
    if (item !== undefined && request.method === 'POST') return this.#vote(request, response, Number(item))
    switch (`${request.method} ${pathname}`) {
      case 'GET /':
        response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(PAGE)
        return
      case 'GET /items':
        return this.#items(response)
      case 'GET /events':
        return this.#live.follow(response)
      default:
        return refuse(response, 404, 'nothing is here')
    }
  }

  async #vote(request: IncomingMessage, response: ServerResponse, item: number): Promise<void> {
    const user = userIn(await textOf(request))
    if (!this.#poll.has(item)) return refuse(response, 404, 'there is no such item')
    if (user === undefined) return refuse(response, 400, 'the body must be JSON: {"user": "ada"}')
    const { isNew, votes } = await this.#poll.vote(user, item)
    // A second vote of the same user is no error: a client without an answer may ask again.
    answer(response, isNew ? 201 : 200, { status: isNew ? 'counted' : 'already', votes })
  }

  async #items(response: ServerResponse): Promise<void> {
    const shown = await this.#poll.shown()
    answer(
      response,
      200,
      this.#poll.items.map((item) => ({ ...item, votes: shown.get(item.id) })),
    )
  }
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

function refuse(response: ServerResponse, status: number, problem: string): void {
  if (response.headersSent) response.destroy()
  else answer(response, status, { problem })
}

/** What is too long is no JSON at its end. */
async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) {
    if (text.length <= LONGEST_BODY) text += String(chunk).slice(0, LONGEST_BODY + 1)
  }
  return text
}

function userIn(text: string): string | undefined {
  try {
    const { user } = JSON.parse(text) as { user?: unknown }
    return typeof user === 'string' && USER.test(user) ? user : undefined
  } catch {
    return undefined
  }
}
