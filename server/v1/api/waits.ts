// Requests that wait. Each ends when its client leaves, and all of them when the service closes, so that
// nothing listens for a client that is not there.

import type { FastifyReply } from 'fastify'

export class Waits {
  readonly #open = new Set<AbortController>()
  readonly #maxMs: number
  #closed = false

  /** `maxMs`: the longest that `during` waits. */
  constructor(maxMs: number) {
    this.#maxMs = maxMs
  }

  /** How many requests wait. */
  get count(): number {
    return this.#open.size
  }

  /** True once no request can wait any more. */
  get closed(): boolean {
    return this.#closed
  }

  /** A signal that aborts when the answer is over, however it ends, or when the service closes. */
  begin({ raw }: FastifyReply): AbortSignal {
    const controller = new AbortController()
    if (this.#closed || raw.destroyed) {
      // That the client has left is told once, and was told before.
      controller.abort()
      return controller.signal
    }
    this.#open.add(controller)
    raw.once('close', () => {
      this.#open.delete(controller)
      controller.abort()
    })
    return controller.signal
  }

  /** The value of the work, or null when its waiting was ended before there was one. */
  async during<Value>(
    reply: FastifyReply,
    work: (signal: AbortSignal) => Promise<Value>,
  ): Promise<Value | null> {
    const waiting = new AbortController()
    const signal = this.begin(reply)
    const stop = (): void => waiting.abort()
    const impatience = setTimeout(stop, this.#maxMs)
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    try {
      return await work(waiting.signal)
    } catch (error) {
      if (waiting.signal.aborted) return null
      throw error
    } finally {
      clearTimeout(impatience)
    }
  }

  /** Ends all waits, and those that come. */
  close(): void {
    this.#closed = true
    for (const controller of this.#open) controller.abort()
  }
}
