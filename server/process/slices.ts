// What happens once may have to be told to very many clients. That is done in slices of time, for one client behind the other:
// whoever has had none in one pass of the event loop has it in one of the next, and between two of them everybody else is served.

import { setImmediate as pass } from 'node:timers/promises'

const SLICE_MS = 20

export class Slices {
  readonly #now: () => number
  /** The last work that was asked for, and with it all before. It never rejects. */
  #last: Promise<unknown> = Promise.resolve()
  /** When the slice of this pass of the loop began; null: it has not yet. */
  #since: number | null = null

  constructor(now = (): number => performance.now()) {
    this.#now = now
  }

  /** Does a little work once there is time. Others wait until it is done, so it waits for nothing but its own promises. */
  begin<Value>(work: () => Promise<Value>): Promise<Value> {
    const done = this.#last.then(async () => {
      while (this.#isOver()) await pass()
      return work()
    })
    this.#last = done.catch(() => undefined)
    return done
  }

  #isOver(): boolean {
    if (this.#since === null) {
      this.#since = this.#now()
      setImmediate(() => (this.#since = null))
    }
    return this.#now() - this.#since >= SLICE_MS
  }
}
