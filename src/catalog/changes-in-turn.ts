// Changes of one document by one process, one behind the other: all at once they would read the same version, of which one alone is
// replaced, and all others would read, change and write again, and again.

import { within } from '../runtime/time/in-time.ts'

/** So long a change waits for those before it: of a server that is silent each waits for its own deadline. */
const PATIENCE_MS = 1000

export class ChangesInTurn {
  /** By what is changed: the end of the last change that was asked for. It never rejects. */
  readonly #last = new Map<string, Promise<unknown>>()

  async run<Result>(key: string, change: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key)
    const done = before === undefined ? change() : within(before, PATIENCE_MS).then(change, change)
    const over = done.catch(() => undefined)
    this.#last.set(key, over)
    try {
      return await done
    } finally {
      if (this.#last.get(key) === over) this.#last.delete(key)
    }
  }
}
