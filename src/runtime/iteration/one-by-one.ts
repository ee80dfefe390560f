// Yields the items of lists one by one. A generator that yields each item would cost more than making the item.

export class OneByOne<Item> implements AsyncGenerator<Item, void, undefined> {
  readonly #lists: AsyncGenerator<readonly Item[], void, undefined>
  readonly #isOver: () => boolean
  #list: readonly Item[] = []
  #at = 0
  /** The last unfinished call; further calls run after it. It never rejects. */
  #waiting: Promise<void> | null = null

  /** Once `isOver`, no more items are yielded: `lists` then throws the reason. */
  constructor(lists: AsyncGenerator<readonly Item[], void, undefined>, isOver: () => boolean) {
    this.#lists = lists
    this.#isOver = isOver
  }

  next(): Promise<IteratorResult<Item, void>> {
    if (this.#waiting === null && this.#isHere()) return Promise.resolve(this.#take())
    return this.#inTurn(() => this.#takeWhenHere())
  }

  return(): Promise<IteratorResult<Item, void>> {
    this.#leave()
    return this.#inTurn(() => {
      this.#list = []
      return this.#lists.return() as Promise<IteratorReturnResult<void>>
    })
  }

  throw(error: unknown): Promise<IteratorResult<Item, void>> {
    this.#leave()
    return this.#inTurn(() => {
      this.#list = []
      return this.#lists.throw(error) as Promise<IteratorReturnResult<void>>
    })
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }

  /** Ends the pending read, if the lists can be left. */
  #leave(): void {
    if (this.#waiting !== null) this.#lists.return().catch(() => undefined)
  }

  #inTurn(step: () => Promise<IteratorResult<Item, void>>): Promise<IteratorResult<Item, void>> {
    const answer = this.#waiting === null ? step() : this.#waiting.then(step)
    const settled = (): void => {
      if (this.#waiting === waiting) this.#waiting = null
    }
    const waiting = answer.then(settled, settled)
    this.#waiting = waiting
    return answer
  }

  async #takeWhenHere(): Promise<IteratorResult<Item, void>> {
    while (!this.#isHere()) {
      const { done, value } = await this.#lists.next()
      if (done === true) return { done, value: undefined }
      this.#list = value
      this.#at = 0
    }
    return this.#take()
  }

  #isHere(): boolean {
    return this.#at < this.#list.length && !this.#isOver()
  }

  #take(): IteratorYieldResult<Item> {
    const value = this.#list[this.#at++] as Item
    return { done: false, value }
  }
}
