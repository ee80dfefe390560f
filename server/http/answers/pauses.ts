// A large answer takes time of the single thread: it is read, parsed, written and sent to its client in many pieces. So
// each is followed by a pause before the next is requested. In the pause other requests go to Redis and are answered.

import { COUNTED_BYTES } from './unsent.ts'

/** About as long as the answer takes. */
const PAUSE_MS_PER_MIB = 10
const MIB = 1024 * 1024

export class AnswerPauses {
  readonly #listeners: (() => void)[] = []
  #isPause = false
  /**
   * Bytes received since the last pause began. Some arrive in pauses, too: requested before, or assumed to be small.
   */
  #bytes = 0

  get isPause(): boolean {
    return this.#isPause
  }

  /** To be called when an answer of so many bytes has arrived. */
  came(bytes: number): void {
    if (bytes < COUNTED_BYTES) return
    this.#bytes += bytes
    if (!this.#isPause) this.#comeToRest()
  }

  /** The listener is called at the end of each pause. */
  onEnd(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** The pause begins when the synchronous work on what has arrived is done. */
  #comeToRest(): void {
    this.#isPause = true
    setImmediate(() => {
      const pauseMs = (this.#bytes / MIB) * PAUSE_MS_PER_MIB
      this.#bytes = 0
      setTimeout(() => this.#end(), pauseMs).unref()
    })
  }

  /** Waiting requests run before the next pause: otherwise they would wait as long as each pause receives anything. */
  #end(): void {
    this.#isPause = false
    for (const listener of this.#listeners) listener()
    if (this.#bytes > 0) this.#comeToRest()
  }
}
