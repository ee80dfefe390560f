// State per connection of a driver: on a cluster a silent node must not block calls to the others.

import type { Driver } from '../../driver.ts'

export class Places<Kept> {
  readonly #driver: Pick<Driver, 'placeOf'>
  readonly #make: () => Kept
  /** For all keys of a single connection, and for keys whose node is unknown. */
  readonly #one: Kept
  readonly #others = new Map<string, Kept>()

  constructor(driver: Pick<Driver, 'placeOf'>, make: () => Kept) {
    this.#driver = driver
    this.#make = make
    this.#one = make()
  }

  /** The state for the connection that serves this key now; it changes when the slot moves. */
  of(key: string): Kept {
    const place = this.#driver.placeOf?.(key)
    if (place === undefined) return this.#one
    const known = this.#others.get(place)
    if (known !== undefined) return known
    const kept = this.#make()
    this.#others.set(place, kept)
    return kept
  }
}
