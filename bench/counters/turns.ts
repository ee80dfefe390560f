/** One after the other, in the order of asking. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve()

  take<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => undefined)
    return result
  }

  /** Resolves when it is this one's turn, which lasts until the function is called that comes back. */
  begin(): Promise<() => void> {
    return new Promise((resolve) => {
      void this.take(() => new Promise<void>((end) => resolve(end)))
    })
  }
}
