// What a body costs is time of the one thread that serves all: there it is judged, parsed, checked and taken apart. So those that
// are in take turns: one at a time, in steps, tenant after tenant, and between two of them everybody else is served.
//
//   waits ──its turn──► judged, parsed, checked ──► its route begins ──► over
//                                    └──waits for Redis──► waits again ──► …

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
      /** To be called behind a wait: resolves when what is done then at once may be done. Throws LEFT. */
      again(request: FastifyRequest): Promise<void>
    }
  }
}

/** Of fewer bytes no body holds enough to take time to speak of, and none takes a turn. */
const LARGE_BYTES = 4096
/** For others, behind so many bytes: they ask Redis, and are answered. */
const PAUSE_MS = 10
const BYTES_WITHOUT_PAUSE = 1024 * 1024

type Turn = Pick<IncomingMessage, 'socket'>
type Begin = (error?: Error) => void
type Line = Set<Begin>

export class BodyTurns {
  /** By share, in the order of their turns. */
  readonly #waiting = new Map<string, Line>()
  /** Those that have had a turn. They go first: what was parsed lies in memory. */
  readonly #again: Line = new Set()
  /** Bytes of those that have had a turn. */
  readonly #taken = new WeakMap<Turn, number>()
  readonly #end = (): void => this.#pause()
  #atWork: Turn | null = null
  #isPause = false
  /** Worked on since the last pause. */
  #bytes = 0

  /** Resolves when a body of so many bytes may be worked on. Throws LEFT. */
  async take(share: string, request: Turn, bytes: number): Promise<void> {
    if (bytes < LARGE_BYTES) return
    const line = this.#waiting.get(share) ?? new Set()
    this.#waiting.set(share, line)
    await this.#begin(line, request, bytes)
  }

  /** Calls back for the next step of what is at work, once others were served; of any other at once. */
  step(request: Turn, begin: () => void): void {
    if (this.#atWork === request) setImmediate(begin)
    else begin()
  }

  /** Resolves when it may be worked on for a moment, whatever it has waited for meanwhile. Throws LEFT. */
  async again(request: Turn): Promise<void> {
    const bytes = this.#taken.get(request)
    if (bytes === undefined || this.#atWork === request) return
    await this.#begin(this.#again, request, bytes)
    this.endSoon(request)
  }

  /** Behind what is done at once. */
  endSoon(request: Turn): void {
    this.step(request, () => this.end(request))
  }

  /** What is left to be done for it takes little time. */
  end(request: Turn): void {
    if (this.#atWork === request) this.#pause()
  }

  #begin(line: Line, request: Turn, bytes: number): Promise<void> {
    const { socket } = request
    return new Promise((resolve, reject) => {
      const leave = (): void => begin(LEFT)
      const begin: Begin = (error) => {
        socket.off('close', leave)
        line.delete(begin)
        if (error !== undefined) return reject(error)
        this.#taken.set(request, bytes)
        this.#atWork = request
        this.#bytes += bytes
        socket.once('close', this.#end)
        resolve()
      }
      // Nothing would tell any more that its client has left.
      if (socket.destroyed) return reject(LEFT)
      socket.once('close', leave)
      line.add(begin)
      if (this.#atWork === null && !this.#isPause) this.#beginNext()
    })
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

  #beginNext(): void {
    const [begin] = this.#nextLine()
    begin?.()
  }

  #nextLine(): Line {
    if (this.#again.size > 0) return this.#again
    for (const [share, line] of this.#waiting) {
      // Behind those of others.
      this.#waiting.delete(share)
      if (line.size === 0) continue
      if (line.size > 1) this.#waiting.set(share, line)
      return line
    }
    return this.#again
  }
}

/** Has large bodies worked on in turns. `shareOf`: whose turn that is. To be called before the routes. */
export function takeBodiesInTurn(
  app: Pick<FastifyInstance, 'decorate' | 'addHook'>,
  shareOf: (request: FastifyRequest) => string,
): void {
  const turns = new BodyTurns()
  app.decorate('bodyTurns', {
    take: (request, body) => turns.take(shareOf(request), request.raw, body.length),
    step: ({ raw }) => new Promise((resolve) => turns.step(raw, resolve)),
    again: ({ raw }) => turns.again(raw),
  })
  app.addHook('preHandler', ({ raw }, _reply, begin) =>
    turns.step(raw, () => {
      begin()
      turns.endSoon(raw)
    }),
  )
  app.addHook('onRoute', (route) => {
    // Behind all others, which may wait for Redis.
    route.preHandler = [route.preHandler ?? [], ({ raw }: FastifyRequest) => turns.again(raw)].flat()
  })
  app.addHook('onSend', (request, _reply, payload, done) => {
    turns.end(request.raw)
    done(null, payload)
  })
}
