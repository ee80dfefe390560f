// The keys that are read, and how often each.

import { zipf } from '../harness/zipf.ts'

export class Keys {
  readonly all: readonly string[]
  readonly #draw: () => number

  /** The same seed draws the same keys. */
  constructor(count: number, seed: number = 1) {
    this.all = Array.from({ length: count }, (_, at) => `key-${String(at).padStart(5, '0')}`)
    this.#draw = zipf(count, seed)
  }

  at(place: number): string {
    return this.all[place] ?? ''
  }

  byZipf(): string {
    return this.at(this.#draw())
  }
}
