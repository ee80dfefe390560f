// What a large body costs is time of the one thread that serves all: there it is judged, parsed, checked and taken apart. So those that
// are in take turns: one at a time, in steps, tenant after tenant, and between two of them everybody else is served.

import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LEFT } from './left.ts'

declare module 'fastify' {
  interface FastifyInstance {
    bodyTurns: {
      /** Resolves when this body may be worked on. Throws LEFT. */
      take(request: FastifyRequest, body: Buffer): Promise<void>
      /** Resolves when the next step of it may be done. */
      step(request: FastifyRequest): Promise<void>
    }
  }
}

/** Smaller bodies take no time to speak of, and no turn. */
const LARGE_BYTES = 65_536
/** For others, behind so many bytes: they ask Redis, and are answered. */
const PAUSE_MS = 10
const BYTES_WITHOUT_PAUSE = 1024 * 1024

type Turn = Pick<IncomingMessage, 'socket'>
type Begin = (error?: Error) => void

export class BodyTurns {
  /** By share, in the order of their turns. */
  readonly #waiting = new Map<string, Set<Begin>>()
  readonly #end = (): void => this.#pause()
  #atWork: Turn | null = null
  #isPause = false
  /** Worked on since the last pause. */
  #bytes = 0

  /** Resolves when a body of so many bytes may be worked on. Throws LEFT. */
  async take(share: string, request: Turn, bytes: number): Promise<void> {
    if (bytes < LARGE_BYTES) return
    // Nothing would tell any more that its client has left.
    if (request.socket.destroyed) throw LEFT
    if (this.#atWork === null && !this.#isPause) this.#begin(request, bytes)
    else await this.#wait(share, request, bytes)
  }

  /** Calls back for the next step of what is at work, once others were served; of any other at once. */
  step(request: Turn, begin: () => void): void {
    if (this.#atWork === request) setImmediate(begin)
    else begin()
  }

  /** What is left to be done for it takes little time. */
  end(request: Turn): void {
    if (this.#atWork === request) this.#pause()
  }

  #begin(request: Turn, bytes: number): void {
    this.#atWork = request
    this.#bytes += bytes
    request.socket.once('close', this.#end)
  }

  #pause(): void {
    this.#atWork?.socket.off('close', this.#end)
    this.#atWork = null
    this.#isPause = true
    const next = (): void => {
      this.#isPause = false
      this.#beginNext()
    }
    if (this.#bytes < BYTES_WITHOUT_PAUSE) {
      setImmediate(next)
    } else {
      this.#bytes = 0
      setTimeout(next, PAUSE_MS)
    }
  }

  #wait(share: string, request: Turn, bytes: number): Promise<void> {
    const ofShare = this.#waiting.get(share) ?? new Set()
    this.#waiting.set(share, ofShare)
    return new Promise((resolve, reject) => {
      const leave = (): void => begin(LEFT)
      const begin: Begin = (error) => {
        request.socket.off('close', leave)
        ofShare.delete(begin)
        if (ofShare.size === 0) this.#waiting.delete(share)
        if (error !== undefined) return reject(error)
        this.#begin(request, bytes)
        resolve()
      }
      request.socket.once('close', leave)
      ofShare.add(begin)
    })
  }

  #beginNext(): void {
    const [next] = this.#waiting
    if (next === undefined) return
    const [share, ofShare] = next
    // Behind those of others.
    this.#waiting.delete(share)
    this.#waiting.set(share, ofShare)
    const [begin] = ofShare
    begin?.()
  }
}

/** Has large bodies worked on in turns. `shareOf`: whose turn that is. */
export function takeBodiesInTurn(
  app: Pick<FastifyInstance, 'decorate' | 'addHook'>,
  shareOf: (request: FastifyRequest) => string,
): void {
  const turns = new BodyTurns()
  app.decorate('bodyTurns', {
    take: (request, body) => turns.take(shareOf(request), request.raw, body.length),
    step: ({ raw }) => new Promise((resolve) => turns.step(raw, resolve)),
  })
  app.addHook('preHandler', ({ raw }, _reply, begin) =>
    turns.step(raw, () => {
      begin()
      // What the route does at once is done by then.
      turns.step(raw, () => turns.end(raw))
    }),
  )
  app.addHook('onSend', (request, _reply, payload, done) => {
    turns.end(request.raw)
    done(null, payload)
  })
}
