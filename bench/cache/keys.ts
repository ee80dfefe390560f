// The keys that are read, and how often each.

export class Keys {
  readonly all: readonly string[]
  /** Shares of the first key, the first two and so on: the second is wanted half as often as the first. */
  readonly #shares: readonly number[]
  readonly #random: () => number

  /** The same seed draws the same keys. */
  constructor(count: number, seed: number = 1) {
    this.all = Array.from({ length: count }, (_, at) => `key-${String(at).padStart(5, '0')}`)
    this.#random = randomOf(seed)
    let sum = 0
    const sums = this.all.map((_, at) => (sum += 1 / (at + 1)))
    this.#shares = sums.map((value) => value / sum)
  }

  at(place: number): string {
    return this.all[place] ?? ''
  }

  byZipf(): string {
    const drawn = this.#random()
    let [low, high] = [0, this.all.length - 1]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#shares[middle] ?? 1) < drawn) low = middle + 1
      else high = middle
    }
    return this.at(low)
  }
}

/** A linear congruential generator, with the numbers of "Numerical Recipes". */
function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
