/** After its end a stalled process may still send a call. */
export const GRACE_MS = 1000

/**
 * The end of a call, in the place of an AbortSignal and without its cost: node-redis looks at it each time it takes the
 * command into a queue, first when it is sent, then after each redirection.
 *
 *   SENT ──MOVED, ASK──► QUEUED for another node, which may be away ──written──► the listener is removed
 *                           └──the end──► dropped
 */
export class EndOfCall {
  readonly #by: number
  readonly #isSentAtOnce: boolean
  #looks = 0
  #timer: NodeJS.Timeout | undefined

  /** `by`: as in ScriptCall. `isSentAtOnce`: a stall of this process alone may have delayed the first sending. */
  constructor(by: number, isSentAtOnce: boolean) {
    this.#by = by
    this.#isSentAtOnce = isSentAtOnce
  }

  get aborted(): boolean {
    this.#looks += 1
    return this.#leftMs < 0 && !(this.#looks === 1 && this.#isSentAtOnce)
  }

  /** The wait for the first node has a limit of its own: an option of the command. */
  addEventListener(_event: string, drop: () => void): void {
    if (this.#looks > 1) this.#timer = setTimeout(drop, this.#leftMs).unref()
  }

  removeEventListener(): void {
    clearTimeout(this.#timer)
  }

  get #leftMs(): number {
    return this.#by + GRACE_MS - performance.now()
  }
}
