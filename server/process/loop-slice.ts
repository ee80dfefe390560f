/** How long one kind of work may take in one pass of the event loop; work that has begun by then is finished. */
const SLICE_MS = 20

/** The time slice of one pass of the event loop: it begins at its first use, and each pass has a new one. */
export class LoopSlice {
  readonly #now: () => number
  /** Null: nothing has been done in this pass yet. */
  #since: number | null = null

  constructor(now = (): number => performance.now()) {
    this.#now = now
  }

  isOver(): boolean {
    if (this.#since === null) {
      this.#since = this.#now()
      setImmediate(() => (this.#since = null))
    }
    return this.#now() - this.#since >= SLICE_MS
  }
}
