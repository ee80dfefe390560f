// What belongs to a name, for as long as somebody has it. A program may use any number of names.

/** So many are kept that nobody has any more: whoever opens a name for each call meets what was there. */
const MOST_KEPT = 1000
/** Two for each that comes: they go as fast as they come. */
const ASKED = 2

export class WhileUsed<Value extends object> {
  readonly #known = new Map<string, WeakRef<Value>>()
  readonly #over = new FinalizationRegistry((name: string) => {
    if (this.find(name) === undefined) this.#known.delete(name)
  })
  /** The newest, in a ring. */
  readonly #newest: Value[] = []
  /** What stays, and when it need not; who was asked longest ago comes first. */
  readonly #kept = new Map<Value, () => boolean>()
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

  /** It stays, whoever has it, until it is over: some of those that stay are asked whenever one more does. */
  keep(value: Value, isOver: () => boolean): void {
    let asked = 0
    for (const [other, isOtherOver] of this.#kept) {
      if (asked === ASKED) break
      asked += 1
      this.#kept.delete(other)
      if (!isOtherOver()) this.#kept.set(other, isOtherOver)
    }
    this.#kept.set(value, isOver)
  }
}
