// Processing a body takes time of the single thread: it is judged, parsed, checked and split. So received bodies take
// turns: one at a time, in steps, tenant after tenant, and between two steps all others are served. Bodies that are
// neither large nor long share one pass of the event loop within a time slice. Passes are long in a busy loop, and one
// body per pass would be too slow.
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
      /** Resolves when this body may be processed. Throws LEFT. */
      take(request: FastifyRequest, body: Buffer): Promise<void>
      /** Resolves when its next step may run. */
      step(request: FastifyRequest): Promise<void>
      /** To be called after a wait: resolves when the following synchronous work may run. Throws LEFT. */
      again(request: FastifyRequest): Promise<void>
    }
  }
}

/** A smaller body takes too little time to need a turn. */
const LARGE_BYTES = 4096
/**
 * A body of at least so many bytes has its own passes of the loop, and so has one with a long list, which costs Redis
 * time, too.
 */
const OWN_PASS_BYTES = 65_536
/** After so many bytes, a pause lets others call Redis and be answered. */
const PAUSE_MS = 10
const BYTES_WITHOUT_PAUSE = 1024 * 1024

type Turn = Pick<IncomingMessage, 'socket'>
interface Terms {
  readonly bytes: number
  /** Whether each of its steps has its own pass of the loop. */
  readonly isAlone: boolean
}
type Begin = (error?: Error) => void
type Line = Set<Begin>

export class BodyTurns {
  /** By share, in the order of their turns. */
  readonly #waiting = new Map<string, Line>()
  /** Bodies that have had a turn. They go first: their parsed form occupies memory. */
  readonly #again: Line = new Set()
  /** Terms of the bodies that have had a turn. */
  readonly #taken = new WeakMap<Turn, Terms>()
  readonly #end = (): void => this.#pause()
  readonly #slice: LoopSlice
  #atWork: Turn | null = null
  /** Of the running body, or the last one. */
  #isAlone = false
  #isPause = false
  /** Processed since the last pause. */
  #bytes = 0

  constructor(now?: () => number) {
    this.#slice = new LoopSlice(now)
  }

  /** Resolves when a body of so many bytes may be processed. Throws LEFT. */
  async take(share: string, request: Turn, bytes: number, isListOfMany = true): Promise<void> {
    if (bytes < LARGE_BYTES) return
    const line = this.#waiting.get(share) ?? new Set()
    this.#waiting.set(share, line)
    await this.#begin(line, request, { bytes, isAlone: isListOfMany || bytes >= OWN_PASS_BYTES })
  }

  /** Calls back for the next step of the running body once there is time for it; of any other body at once. */
  step(request: Turn, begin: () => void): void {
    if (this.#atWork === request) this.#whenTime(begin)
    else begin()
  }

  /** Resolves when it may be processed for a moment, whatever it has waited for meanwhile. Throws LEFT. */
  async again(request: Turn): Promise<void> {
    const terms = this.#taken.get(request)
    if (terms === undefined || this.#atWork === request) return
    await this.#begin(this.#again, request, terms)
    this.endSoon(request)
  }

  /** After the synchronous work. */
  endSoon(request: Turn): void {
    const end = (): void => this.end(request)
    if (this.#isAlone) this.step(request, end)
    // After all promises that are settled already.
    else queueMicrotask(() => process.nextTick(end))
  }

  /** Its remaining work takes little time. */
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
        // The arrival, or the previous work, has used a part of this pass.
        const isLater = terms.isAlone && !this.#isAlone
        this.#taken.set(request, terms)
        this.#atWork = request
        this.#isAlone = terms.isAlone
        this.#bytes += terms.bytes
        socket.once('close', this.#end)
        if (isLater) setImmediate(resolve)
        else resolve()
      }
      // No event would report any more that its client has left.
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

  /** At once while the slice of this pass lasts, otherwise in the next pass; a long body always in the next. */
  #whenTime(work: () => void): void {
    const isOver = this.#slice.isOver()
    if (this.#isAlone || isOver) setImmediate(work)
    else work()
  }

  /** Bodies that arrive one by one also share a slice. */
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
      // After those of other shares.
      this.#waiting.delete(share)
      if (line.size === 0) continue
      if (line.size > 1) this.#waiting.set(share, line)
      return line
    }
    return this.#again
  }
}

/** Makes large bodies take turns. `shareOf`: the share whose turn is used. To be called before the routes are added. */
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
    // After all other handlers, which may wait for Redis.
    route.preHandler = [route.preHandler ?? [], ({ raw }: FastifyRequest) => turns.again(raw)].flat()
  })
  app.addHook('onSend', (request, _reply, payload, done) => {
    turns.end(request.raw)
    done(null, payload)
  })
}
