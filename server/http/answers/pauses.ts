// A large answer is time of the one thread that serves all: it is read, looked through, written down and handed to its client in
// many pieces. So behind each there is a pause before the next is asked for, in which others ask Redis and are answered.

import { COUNTED_BYTES } from './unsent.ts'

/** About as long as the answer takes. */
const PAUSE_MS_PER_MIB = 10
const MIB = 1024 * 1024

export class AnswerPauses {
  readonly #listeners: (() => void)[] = []
  #isPause = false
  /** Of what came since the last pause began. Some comes in pauses, too: what was asked for before, or was taken for small. */
  #bytes = 0

  get isPause(): boolean {
    return this.#isPause
  }

  /** An answer of so many bytes has come. */
  came(bytes: number): void {
    if (bytes < COUNTED_BYTES) return
    this.#bytes += bytes
    if (!this.#isPause) this.#comeToRest()
  }

  /** Called at the end of each pause. */
  onEnd(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** The pause lasts from when what is done at once with what came is done. */
  #comeToRest(): void {
    this.#isPause = true
    setImmediate(() => {
      const pauseMs = (this.#bytes / MIB) * PAUSE_MS_PER_MIB
      this.#bytes = 0
      setTimeout(() => this.#end(), pauseMs).unref()
    })
  }

  /** Who waits has his turn before the next pause, or he would wait for as long as anything comes in each. */
  #end(): void {
    this.#isPause = false
    for (const listener of this.#listeners) listener()
    if (this.#bytes > 0) this.#comeToRest()
  }
}
