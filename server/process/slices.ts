// One event may have to be reported to very many clients. This is done in time slices, one client after the other.
// Clients left over in one pass of the event loop follow in the next ones, and between two passes all other requests
// are served.

import { setImmediate as pass } from 'node:timers/promises'
import { LoopSlice } from './loop-slice.ts'

export class Slices {
  readonly #slice: LoopSlice
  /** The last requested work, after all before it. It never rejects. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(now?: () => number) {
    this.#slice = new LoopSlice(now)
  }

  /**
   * Runs a little work once there is time. Other work waits until it is done, so it must wait for nothing but its own
   * promises.
   */
  begin<Value>(work: () => Promise<Value>): Promise<Value> {
    const done = this.#last.then(async () => {
      while (this.#slice.isOver()) await pass()
      return work()
    })
    this.#last = done.catch(() => undefined)
    return done
  }
}
