// An iterator whose `next()` may wait indefinitely. A plain generator queues `return()` after the pending `next()`. So
// a consumer that leaves from outside of a loop (a destroyed stream, a race) would wait for an item that may never
// come.

import { onAbort } from '../time/aborts.ts'
import { checkSignal } from '../values/arguments.ts'

const LEFT = new Error('the consumer has left')

/**
 * Behaves like the generator, except that `return()` and `throw()` end a pending `next()`, which then resolves to the
 * end.
 */
export class Leavable<Item> implements AsyncGenerator<Item, void, undefined> {
  readonly #items: AsyncGenerator<Item, void, undefined>
  readonly #signal: AbortSignal | undefined
  readonly #aborter = new AbortController()
  #asked = 0

  /** The generator must obey the signal passed to it, which aborts when the caller's signal does. */
  constructor(
    make: (signal: AbortSignal) => AsyncGenerator<Item, void, undefined>,
    signal: AbortSignal | undefined,
  ) {
    this.#signal = signal ?? undefined
    this.#items = make(this.#aborter.signal)
  }

  async next(): Promise<IteratorResult<Item, void>> {
    checkSignal(this.#signal)
    const forget = onAbort(this.#signal, () => this.#aborter.abort(this.#signal?.reason))
    this.#asked += 1
    try {
      return await this.#items.next()
    } catch (error) {
      if (error === LEFT) return { done: true, value: undefined }
      throw error
    } finally {
      this.#asked -= 1
      forget()
    }
  }

  return(): Promise<IteratorResult<Item, void>> {
    this.#leave()
    return this.#items.return()
  }

  throw(error: unknown): Promise<IteratorResult<Item, void>> {
    this.#leave()
    return this.#items.throw(error)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }

  #leave(): void {
    if (this.#asked > 0) this.#aborter.abort(LEFT)
  }
}
