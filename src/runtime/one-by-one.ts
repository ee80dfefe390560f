// What comes in lists, given one by one. A generator that yielded each item would take longer over it than over making it.

export class OneByOne<Item> implements AsyncGenerator<Item, void, undefined> {
  readonly #lists: AsyncGenerator<readonly Item[], void, undefined>
  readonly #signal: AbortSignal | undefined
  #list: readonly Item[] = []
  #at = 0
  /** The last call that waits for a list: what is asked for meanwhile comes after it. */
  #waiting: Promise<unknown> | null = null

  /** Once the signal aborts nothing is given any more: `lists` then throws its reason. */
  constructor(lists: AsyncGenerator<readonly Item[], void, undefined>, signal: AbortSignal | undefined) {
    this.#lists = lists
    this.#signal = signal
  }

  next(): Promise<IteratorResult<Item, void>> {
    if (this.#waiting === null && this.#isHere()) return Promise.resolve(this.#take())
    const next = this.#nextAfter(this.#waiting)
    const settled = (): void => {
      if (this.#waiting === waiting) this.#waiting = null
    }
    const waiting = next.then(settled, settled)
    this.#waiting = waiting
    return next
  }

  return(): Promise<IteratorResult<Item, void>> {
    this.#drop()
    return this.#lists.return() as Promise<IteratorReturnResult<void>>
  }

  throw(error: unknown): Promise<IteratorResult<Item, void>> {
    this.#drop()
    return this.#lists.throw(error) as Promise<IteratorReturnResult<void>>
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }

  async #nextAfter(before: Promise<unknown> | null): Promise<IteratorResult<Item, void>> {
    await before
    while (!this.#isHere()) {
      const { done, value } = await this.#lists.next()
      if (done === true) return { done, value: undefined }
      this.#list = value
      this.#at = 0
    }
    return this.#take()
  }

  #isHere(): boolean {
    return this.#at < this.#list.length && this.#signal?.aborted !== true
  }

  #take(): IteratorYieldResult<Item> {
    const value = this.#list[this.#at++] as Item
    return { done: false, value }
  }

  #drop(): void {
    this.#list = []
  }
}
