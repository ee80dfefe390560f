// Requests that wait. Each ends when its client leaves, and all of them when the service closes, so that nothing
// listens for a client that has left.

import type { FastifyReply } from 'fastify'

export class Waits {
  readonly #open = new Set<AbortController>()
  readonly #maxMs: number
  #closed = false

  /** `maxMs`: the longest wait of `during`. */
  constructor(maxMs: number) {
    this.#maxMs = maxMs
  }

  /** The number of waiting requests. */
  get count(): number {
    return this.#open.size
  }

  /** True once no request can wait any more. */
  get closed(): boolean {
    return this.#closed
  }

  /** A signal that aborts when the answer ends in any way, or when the service closes. */
  begin({ raw }: FastifyReply): AbortSignal {
    const controller = new AbortController()
    if (this.#closed || raw.destroyed) {
      // The event of the client's end is emitted once, and has already been.
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

  /** The value of the work, or null if its wait was ended before there was one. */
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

  /** Ends all waits, and later ones at their start. */
  close(): void {
    this.#closed = true
    for (const controller of this.#open) controller.abort()
  }
}
