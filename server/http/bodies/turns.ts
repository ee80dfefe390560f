// What a body costs is time of the one thread that serves all: there it is judged, parsed, checked and taken apart. So those that
// are in take turns: one at a time, in steps, tenant after tenant, and between two of them everybody else is served. Of those that
// are neither large nor long, several are worked on in one pass of the event loop, for a slice of time: a pass of a loop with many
// others in it is long, and one a pass would be few.
//
//   waits ──its turn──► judged, parsed, checked ──► its route begins ──► over
//                                    └──waits for Redis──► waits again ──► …

import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { LoopSlice } from '../../process/loop-slice.ts'
import { LEFT } from '../requests/left.ts'
import { isLong } from './long-lists.ts'

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
/** With so many a body is worked on in passes of the loop of its own, and so is one with a long list, which costs Redis time, too. */
const OWN_PASS_BYTES = 65_536
/** For others, behind so many bytes: they ask Redis, and are answered. */
const PAUSE_MS = 10
const BYTES_WITHOUT_PAUSE = 1024 * 1024

type Turn = Pick<IncomingMessage, 'socket'>
interface Terms {
  readonly bytes: number
  /** Whether each of its steps has a pass of the loop of its own. */
  readonly isAlone: boolean
}
type Begin = (error?: Error) => void
type Line = Set<Begin>

export class BodyTurns {
  /** By share, in the order of their turns. */
  readonly #waiting = new Map<string, Line>()
  /** Those that have had a turn. They go first: what was parsed lies in memory. */
  readonly #again: Line = new Set()
  /** Of those that have had a turn. */
  readonly #taken = new WeakMap<Turn, Terms>()
  readonly #end = (): void => this.#pause()
  readonly #slice: LoopSlice
  #atWork: Turn | null = null
  /** Of what is at work, or was last. */
  #isAlone = false
  #isPause = false
  /** Worked on since the last pause. */
  #bytes = 0

  constructor(now?: () => number) {
    this.#slice = new LoopSlice(now)
  }

  /** Resolves when a body of so many bytes may be worked on. Throws LEFT. */
  async take(share: string, request: Turn, bytes: number, isListOfMany = true): Promise<void> {
    if (bytes < LARGE_BYTES) return
    const line = this.#waiting.get(share) ?? new Set()
    this.#waiting.set(share, line)
    await this.#begin(line, request, { bytes, isAlone: isListOfMany || bytes >= OWN_PASS_BYTES })
  }

  /** Calls back for the next step of what is at work, once there is time for it; of any other at once. */
  step(request: Turn, begin: () => void): void {
    if (this.#atWork === request) this.#whenTime(begin)
    else begin()
  }

  /** Resolves when it may be worked on for a moment, whatever it has waited for meanwhile. Throws LEFT. */
  async again(request: Turn): Promise<void> {
    const terms = this.#taken.get(request)
    if (terms === undefined || this.#atWork === request) return
    await this.#begin(this.#again, request, terms)
    this.endSoon(request)
  }

  /** Behind what is done at once. */
  endSoon(request: Turn): void {
    const end = (): void => this.end(request)
    if (this.#isAlone) this.step(request, end)
    // Behind all promises that are settled already.
    else queueMicrotask(() => process.nextTick(end))
  }

  /** What is left to be done for it takes little time. */
  end(request: Turn): void {
    if (this.#atWork === request) this.#pause()
  }

  #begin(line: Line, request: Turn, terms: Terms): Promise<void> {
    const { socket } = request
    return new Promise((resolve, reject) => {
      const leave = (): void => begin(LEFT)
      const begin: Begin = (error) => {
        socket.off('close', leave)
        line.delete(begin)
        if (error !== undefined) return reject(error)
        // What came in, or was worked on, has begun this pass already.
        const isLater = terms.isAlone && !this.#isAlone
        this.#taken.set(request, terms)
        this.#atWork = request
        this.#isAlone = terms.isAlone
        this.#bytes += terms.bytes
        socket.once('close', this.#end)
        if (isLater) setImmediate(resolve)
        else resolve()
      }
      // Nothing would tell any more that its client has left.
      if (socket.destroyed) return reject(LEFT)
      socket.once('close', leave)
      line.add(begin)
      if (this.#atWork === null && !this.#isPause) this.#beginFirst()
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
    if (this.#bytes < BYTES_WITHOUT_PAUSE) return this.#whenTime(next)
    this.#bytes = 0
    setTimeout(next, PAUSE_MS)
  }

  /** At once while the slice of this pass lasts, else in the next one; so what is alone. */
  #whenTime(work: () => void): void {
    const isOver = this.#slice.isOver()
    if (this.#isAlone || isOver) setImmediate(work)
    else work()
  }

  /** Those that come one by one have a slice together, too. */
  #beginFirst(): void {
    this.#isAlone = false
    this.#pause()
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
    take: (request, body) => {
      const isListOfMany = body.length < OWN_PASS_BYTES && isLong(body)
      return turns.take(shareOf(request), request.raw, body.length, isListOfMany)
    },
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
