/** Pauses that can all be ended at once. They keep no process alive. */
export class Pauses {
  readonly #ends = new Set<() => void>()

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer)
        this.#ends.delete(end)
        resolve()
      }
      const timer = setTimeout(end, ms).unref()
      this.#ends.add(end)
    })
  }

  endAll(): void {
    for (const end of this.#ends) end()
  }
}
