// What belongs to a name, for as long as somebody has it. A program may use any number of names.

/** So many are kept that nobody has any more: whoever opens a name for each call meets what was there. */
const MOST_KEPT = 1000

export class WhileUsed<Value extends object> {
  readonly #known = new Map<string, WeakRef<Value>>()
  readonly #over = new FinalizationRegistry((name: string) => {
    if (this.find(name) === undefined) this.#known.delete(name)
  })
  /** The newest, in a ring. */
  readonly #newest: Value[] = []
  readonly #kept = new Set<Value>()
  #begun = 0

  /** How many names are known. */
  get size(): number {
    return this.#known.size
  }

  find(name: string): Value | undefined {
    return this.#known.get(name)?.deref()
  }

  add(name: string, value: Value): void {
    this.#known.set(name, new WeakRef(value))
    this.#over.register(value, name)
    this.#newest[this.#begun % MOST_KEPT] = value
    this.#begun += 1
  }

  /** It stays, whoever has it. */
  keep(value: Value): void {
    this.#kept.add(value)
  }
}
