/** So long one kind of work may take in one pass of the event loop; what has begun by then is done. */
const SLICE_MS = 20

/** The slice of one pass of the event loop: it begins when it is first asked for, and the next pass has one anew. */
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
