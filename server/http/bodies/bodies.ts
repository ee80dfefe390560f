// Large bodies that are being received or processed occupy memory of the service, so they have a common bound. A body
// without room is not read until there is some, and its client waits with the rest. A body that stalls meanwhile, or
// arrives too slowly, gives up its place. One in chunks may become as large as its route allows; once received, it only
// occupies its size.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { hasBody } from './forms.ts'
import { LEFT } from '../requests/left.ts'
import { unavailable } from '../answers/problems.ts'

/** A share may have as much as remains free: alone half of it, two shares a third each. */
const MOST_BYTES = 64 * 1024 * 1024
/** Smaller bodies are not included, and never wait. */
const COUNTED_BYTES = 65_536
/** How long a body waits to be read. */
const WAIT_MS = 10_000
/** How long a body may stall, or arrive too slowly, while others wait. */
const PATIENCE_MS = 2000
/** While others wait, a body must arrive fast enough to be complete within this time; a request has half of it. */
const SPAN_MS = 60_000
const LOOK_MS = 250

export interface BodiesTerms {
  readonly mostBytes?: number
  readonly waitMs?: number
  readonly patienceMs?: number
  /** Ends a request that does not arrive, with an answer that says so. */
  giveUp(request: IncomingMessage): void
}

interface Body {
  readonly share: string
  readonly request: IncomingMessage
  readonly response: ServerResponse
  bytes: number
}

/** A body that has its room. */
interface Held extends Body {
  /** Bytes received over its connection at the last measurement, and the time of the last progress. */
  came: number
  since: number
  /** Bytes received, and the time, when it got its room. */
  readonly before: number
  readonly begunAt: number
}

/** A body that is not read yet. `begin` rejects after a timeout. */
interface Waiting extends Body {
  begin(error: Error | null): void
}

/** Functions that return the room of a request's body, except for so many bytes. */
const shrinking = new WeakMap<IncomingMessage, (bytes: number) => void>()

export class Bodies {
  readonly #mostBytes: number
  readonly #waitMs: number
  readonly #patienceMs: number
  readonly #giveUp: (request: IncomingMessage) => void
  readonly #held = new Set<Held>()
  readonly #byShare = new Map<string, number>()
  /** In the order of their arrival. */
  readonly #waiting = new Set<Waiting>()
  #total = 0
  #timer: NodeJS.Timeout | null = null

  constructor({ mostBytes = MOST_BYTES, waitMs = WAIT_MS, patienceMs = PATIENCE_MS, giveUp }: BodiesTerms) {
    this.#mostBytes = mostBytes
    this.#waitMs = waitMs
    this.#patienceMs = patienceMs
    this.#giveUp = giveUp
  }

  /** Total of all bodies with room. */
  get bytes(): number {
    return this.#total
  }

  /**
   * Resolves when a body of so many bytes may be read. Its room lasts until its answer is finished, or it is released.
   * Throws Problem, LEFT.
   */
  async admit(
    share: string,
    bytes: number,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    if (bytes < COUNTED_BYTES) return
    // No event would report its end any more, and its room would never be returned.
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
        waiting.begin(unavailable('Too many large requests are being received. Please try again.'))
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

  /** Bodies of a share without room hold up no other share. */
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

/** The body is not needed any more: its memory and its room become free, even if the answer takes long. */
export function letBodyGo(request: FastifyRequest): void {
  request.body = undefined
  request.jsonText = ''
  shrinking.get(request.raw)?.(0)
}

/** Methods whose bodies Fastify does not read. */
const UNREAD = new Set(['GET', 'HEAD'])

/** Makes bodies wait for their room before they are read. `shareOf`: the share that pays for the room. */
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
    // A body that is too large is rejected before it is read.
    if (bytes <= most) await bodies.admit(shareOf(request), bytes, raw, reply.raw)
    return payload
  })
  app.addHook('preValidation', async (request) => {
    // Bodies that are not JSON have no text.
    const { raw, body, jsonText }: { raw: IncomingMessage; body: unknown; jsonText?: string } = request
    if (raw.headers['transfer-encoding'] === undefined) return
    shrinking.get(raw)?.(Buffer.isBuffer(body) ? body.length : Buffer.byteLength(jsonText ?? ''))
  })
}
