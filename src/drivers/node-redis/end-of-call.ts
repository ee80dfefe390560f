/** After its end a stalled process may still send a call. */
export const GRACE_MS = 1000

/**
 * The end of a call, in the place of an AbortSignal and without its cost: node-redis looks at it each time it takes the
 * command into a queue, also after a redirection to a node whose connection takes long.
 */
export class EndOfCall {
  readonly #by: number

  /** `by`: as in ScriptCall. */
  constructor(by: number) {
    this.#by = by
  }

  get aborted(): boolean {
    return performance.now() > this.#by + GRACE_MS
  }

  /** It does not abort while the command waits in a queue: the limit of that wait is an option of its own. */
  addEventListener(): void {}

  removeEventListener(): void {}
}
