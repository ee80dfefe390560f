// Limits the bytes in memory for one purpose. A take of more bytes than are free waits for others, and tenants take
// turns.

/** Returns the taken bytes, or a part of them. */
export interface BudgetShare {
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
  /** By tenant, in the order of their turns. */
  readonly #waiting = new Map<string, Set<Waiting>>()
  #taken = 0

  constructor(total: number) {
    this.#total = total
  }

  /** A take of more than the whole budget has it alone. Throws the signal's reason. */
  async take(tenant: string, bytes: number, signal: AbortSignal): Promise<BudgetShare> {
    if (this.#waiting.size > 0 || !this.#fits(bytes)) await this.#wait(tenant, bytes, signal)
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

  #wait(tenant: string, bytes: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const line = this.#waiting.get(tenant) ?? new Set()
      const leave = (): void => {
        line.delete(waiting)
        if (line.size === 0) this.#waiting.delete(tenant)
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
      this.#waiting.set(tenant, line.add(waiting))
    })
  }

  /** The first in turn goes before all others, even if less would be enough for these. */
  #beginNext(): void {
    for (const [tenant, line] of this.#waiting) {
      const [waiting] = line
      if (waiting === undefined || !this.#fits(waiting.bytes)) return
      line.delete(waiting)
      // After those of other tenants.
      this.#waiting.delete(tenant)
      if (line.size > 0) this.#waiting.set(tenant, line)
      this.#taken += waiting.bytes
      waiting.begin()
    }
  }
}
