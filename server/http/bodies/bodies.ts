// Large bodies that come in, or are at work, lie in the memory of the service, so they have a bound together. One for which
// there is no room is not read until there is, and its client waits with the rest of it. One that stands still meanwhile, or
// comes too slowly, gives up its place. One in chunks may become as large as its route allows; once it is in, it has room for
// what it is.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { hasBody } from './forms.ts'
import { LEFT } from '../requests/left.ts'
import { unavailable } from '../answers/problems.ts'

/** A share may have as much as is left of this: alone half of it, two a third each. */
const MOST_BYTES = 64 * 1024 * 1024
/** Smaller bodies are not counted, and never wait. */
const COUNTED_BYTES = 65_536
/** How long a body waits to be read. */
const WAIT_MS = 10_000
/** How long a body may stand still, or come too slowly, while others wait. */
const PATIENCE_MS = 2000
/** While others wait one must come at such a pace that all of it is in by then; a request has half of that. */
const SPAN_MS = 60_000
const LOOK_MS = 250

export interface BodiesTerms {
  readonly mostBytes?: number
  readonly waitMs?: number
  readonly patienceMs?: number
  /** Ends a request that does not come in, with an answer that says so. */
  giveUp(request: IncomingMessage): void
}

interface Body {
  readonly share: string
  readonly request: IncomingMessage
  readonly response: ServerResponse
  bytes: number
}

/** One that has its room. */
interface Held extends Body {
  /** What had come over its connection, as it was last seen, and when some of that came. */
  came: number
  since: number
  /** What had come, and when, as it got its room. */
  readonly before: number
  readonly begunAt: number
}

/** One that is not read yet. `begin` rejects where the time is over. */
interface Waiting extends Body {
  begin(error: Error | null): void
}

/** Gives back the room of a request's body but for so many bytes. */
const shrinking = new WeakMap<IncomingMessage, (bytes: number) => void>()

export class Bodies {
  readonly #mostBytes: number
  readonly #waitMs: number
  readonly #patienceMs: number
  readonly #giveUp: (request: IncomingMessage) => void
  readonly #held = new Set<Held>()
  readonly #byShare = new Map<string, number>()
  /** In the order in which they came. */
  readonly #waiting = new Set<Waiting>()
  #total = 0
  #timer: NodeJS.Timeout | null = null

  constructor({ mostBytes = MOST_BYTES, waitMs = WAIT_MS, patienceMs = PATIENCE_MS, giveUp }: BodiesTerms) {
    this.#mostBytes = mostBytes
    this.#waitMs = waitMs
    this.#patienceMs = patienceMs
    this.#giveUp = giveUp
  }

  /** Of all that have their room. */
  get bytes(): number {
    return this.#total
  }

  /** Resolves when a body of so many bytes may be read; its room lasts until its answer is over, or it is let go. Throws Problem, LEFT. */
  async admit(
    share: string,
    bytes: number,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    if (bytes < COUNTED_BYTES) return
    // Nothing would tell of its end any more, and its room would never come back.
    if (response.closed) throw LEFT
    const body = { share, bytes, request, response }
    if (this.#hasRoom(share)) return this.#hold(body)
    await this.#wait(body)
  }

  #hasRoom(share: string): boolean {
    return (this.#byShare.get(share) ?? 0) < this.#mostBytes - this.#total
  }

  #wait(body: Body): Promise<void> {
    return new Promise((resolve, reject) => {
      const onClose = (): void => waiting.begin(LEFT)
      const late = (): void =>
        waiting.begin(unavailable('Too many large requests come in. Please try again.'))
      const timer = setTimeout(late, this.#waitMs)
      const waiting: Waiting = {
        ...body,
        begin: (error) => {
          clearTimeout(timer)
          body.response.off('close', onClose)
          this.#waiting.delete(waiting)
          if (error !== null) return reject(error)
          this.#hold(body)
          resolve()
        },
      }
      body.response.once('close', onClose)
      this.#waiting.add(waiting)
      this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref()
    })
  }

  #hold(body: Body): void {
    const [came, since] = [body.request.socket.bytesRead, performance.now()]
    const held: Held = { ...body, came, since, before: came, begunAt: since }
    this.#held.add(held)
    this.#count(held.share, held.bytes)
    shrinking.set(held.request, (bytes) => this.#shrink(held, bytes))
    body.response.once('close', () => {
      this.#held.delete(held)
      this.#shrink(held, 0)
    })
  }

  #shrink(held: Held, bytes: number): void {
    const left = bytes < COUNTED_BYTES ? 0 : Math.min(bytes, held.bytes)
    this.#count(held.share, left - held.bytes)
    held.bytes = left
    this.#beginNext()
  }

  #count(share: string, bytes: number): void {
    this.#total += bytes
    const left = (this.#byShare.get(share) ?? 0) + bytes
    if (left === 0) this.#byShare.delete(share)
    else this.#byShare.set(share, left)
  }

  /** Those of a share that has no room hold up no other one. */
  #beginNext(): void {
    for (const waiting of this.#waiting) {
      if (this.#total >= this.#mostBytes) return
      if (this.#hasRoom(waiting.share)) waiting.begin(null)
    }
  }

  #look(): void {
    const now = performance.now()
    if (this.#waiting.size === 0 && this.#timer !== null) {
      clearInterval(this.#timer)
      this.#timer = null
      return
    }
    for (const held of this.#held) {
      const { bytesRead } = held.request.socket
      if (bytesRead > held.came) Object.assign(held, { came: bytesRead, since: now })
      if (!held.request.complete && this.#isTooSlow(held, now)) this.#giveUp(held.request)
    }
  }

  #isTooSlow({ came, since, before, begunAt, bytes }: Held, now: number): boolean {
    const ms = now - begunAt
    return ms > this.#patienceMs && (now - since > this.#patienceMs || came - before < (bytes * ms) / SPAN_MS)
  }
}

/** Nothing of the body is needed any more: its memory and its room are for others, though the answer takes long. */
export function letBodyGo(request: FastifyRequest): void {
  request.body = undefined
  request.jsonText = ''
  shrinking.get(request.raw)?.(0)
}

/** Fastify reads none of these. */
const UNREAD = new Set(['GET', 'HEAD'])

/** Has bodies wait for their room before they are read. `shareOf`: whose room that is. */
export function boundBodies(
  app: Pick<FastifyInstance, 'addHook'>,
  bodies: Bodies,
  shareOf: (request: FastifyRequest) => string,
): void {
  app.addHook('preParsing', async (request, reply, payload) => {
    const { raw, routeOptions } = request
    if (UNREAD.has(request.method) || !hasBody(raw)) return payload
    const most = routeOptions.bodyLimit ?? 0
    const bytes = Number(raw.headers['content-length'] ?? most)
    // One that is too large is refused before it is read.
    if (bytes <= most) await bodies.admit(shareOf(request), bytes, raw, reply.raw)
    return payload
  })
  app.addHook('preValidation', async (request) => {
    // Those that are no JSON have no text.
    const { raw, body, jsonText }: { raw: IncomingMessage; body: unknown; jsonText?: string } = request
    if (raw.headers['transfer-encoding'] === undefined) return
    shrinking.get(raw)?.(Buffer.isBuffer(body) ? body.length : Buffer.byteLength(jsonText ?? ''))
  })
}
