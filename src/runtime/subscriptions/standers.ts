/** The attempts of this process that wait in lines. In each line, the oldest one polls for all of them. */
export class Standers {
  /** In order of arrival. */
  readonly #lines = new Map<string, Set<string>>()

  enter(line: string, id: string): void {
    const ids = this.#lines.get(line)
    if (ids === undefined) this.#lines.set(line, new Set([id]))
    else ids.add(id)
  }

  leave(line: string, id: string): void {
    const ids = this.#lines.get(line)
    ids?.delete(id)
    if (ids?.size === 0) this.#lines.delete(line)
  }

  /** True for the attempt that has waited longest. */
  isFirst(line: string, id: string): boolean {
    const [first] = this.#lines.get(line) ?? []
    return first === id
  }
}
