// Repeats a check while it is needed: about once a second while the last result was clear, sooner while it was not.
// Only one check runs at a time, and the timer keeps no process alive.

const PAUSE_MS = 1000
const SHORT_PAUSE_MS = 50
const LONGEST_PAUSE_IN_DOUBT_MS = 250

export interface Looking {
  isNeeded(): boolean
  /** Resolves to false when the check could not confirm that all is well. */
  look(): Promise<boolean>
}

export class Rounds {
  readonly #looking: Looking
  #timer: NodeJS.Timeout | undefined
  #underWay = false
  #hurried = false
  /** The length of the last pause after an unclear result; 0 after a clear one. */
  #doubtMs = 0
  #stopped = false

  constructor(looking: Looking) {
    this.#looking = looking
  }

  /** Starts checking. */
  start(): void {
    if (!this.#underWay && this.#timer === undefined) this.#later(PAUSE_MS)
  }

  /** An event may have changed the result: runs the next check soon. */
  hurry(): void {
    if (this.#hurried) return
    this.#hurried = true
    if (this.#timer !== undefined && this.#doubtMs === 0) this.#later(SHORT_PAUSE_MS)
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  #later(ms: number): void {
    clearTimeout(this.#timer)
    if (this.#stopped) return
    this.#timer = setTimeout(() => void this.#run(), ms).unref()
  }

  async #run(): Promise<void> {
    this.#timer = undefined
    this.#underWay = true
    this.#hurried = false
    const isSure = await this.#looking.look()
    this.#underWay = false
    this.#doubtMs = isSure
      ? 0
      : Math.min(Math.max(this.#doubtMs * 2, SHORT_PAUSE_MS), LONGEST_PAUSE_IN_DOUBT_MS)
    if (this.#looking.isNeeded()) this.#later(this.#pauseMs())
  }

  #pauseMs(): number {
    if (this.#doubtMs > 0) return this.#doubtMs
    return this.#hurried ? SHORT_PAUSE_MS : PAUSE_MS
  }
}
