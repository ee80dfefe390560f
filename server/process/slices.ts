// What happens once may have to be told to very many clients. That is done in slices of time, for one client behind the other:
// whoever has had none in one pass of the event loop has it in one of the next, and between two of them everybody else is served.

import { setImmediate as pass } from 'node:timers/promises'
import { LoopSlice } from './loop-slice.ts'

export class Slices {
  readonly #slice: LoopSlice
  /** The last work that was asked for, and with it all before. It never rejects. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(now?: () => number) {
    this.#slice = new LoopSlice(now)
  }

  /** Does a little work once there is time. Others wait until it is done, so it waits for nothing but its own promises. */
  begin<Value>(work: () => Promise<Value>): Promise<Value> {
    const done = this.#last.then(async () => {
      while (this.#slice.isOver()) await pass()
      return work()
    })
    this.#last = done.catch(() => undefined)
    return done
  }
}
