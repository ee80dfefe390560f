// How many bytes may be in memory at once for one purpose. Whoever needs more than are free waits for others.

/** Gives back what was taken, or a part of it. */
export interface Share {
  /** Keeps no more than so many bytes. */
  shrinkTo(bytes: number): void
  release(): void
}

interface Waiting {
  readonly bytes: number
  begin(): void
}

export class Budget {
  readonly #total: number
  readonly #waiting = new Set<Waiting>()
  #taken = 0

  constructor(total: number) {
    this.#total = total
  }

  /** First come, first served. What is more than the whole budget has it alone. Throws the signal's reason. */
  async take(bytes: number, signal: AbortSignal): Promise<Share> {
    if (this.#waiting.size > 0 || !this.#fits(bytes)) await this.#wait(bytes, signal)
    else this.#taken += bytes
    let kept = bytes
    const shrinkTo = (left: number): void => {
      const given = Math.max(0, kept - left)
      kept -= given
      this.#taken -= given
      this.#beginNext()
    }
    return { shrinkTo, release: () => shrinkTo(0) }
  }

  #fits(bytes: number): boolean {
    return this.#taken === 0 || this.#taken + bytes <= this.#total
  }

  #wait(bytes: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(waiting)
        reject(signal.reason)
        this.#beginNext()
      }
      const begin = (): void => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const waiting = { bytes, begin }
      if (signal.aborted) return reject(signal.reason)
      signal.addEventListener('abort', leave, { once: true })
      this.#waiting.add(waiting)
    })
  }

  #beginNext(): void {
    for (const waiting of this.#waiting) {
      if (!this.#fits(waiting.bytes)) return
      this.#waiting.delete(waiting)
      this.#taken += waiting.bytes
      waiting.begin()
    }
  }
}
