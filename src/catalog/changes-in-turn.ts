// Serializes the changes of one document in this process. Concurrent changes would all read the same version; only
// one could replace it, and all others would read, change and write again.

import { within } from '../runtime/time/in-time.ts'

/** How long a change waits for earlier ones: with a silent server each of them waits until its own deadline. */
const PATIENCE_MS = 1000

export class ChangesInTurn {
  /** The end of the last requested change, by key. It never rejects. */
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
