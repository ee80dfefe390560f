// What is kept for each connection of a driver by itself: on a cluster a node that is silent keeps nobody from the others.

import type { Driver } from '../../driver.ts'

export class Places<Kept> {
  readonly #driver: Pick<Driver, 'placeOf'>
  readonly #make: () => Kept
  /** Of all keys where there is one connection, and of those of which nobody knows where they are. */
  readonly #one: Kept
  readonly #others = new Map<string, Kept>()

  constructor(driver: Pick<Driver, 'placeOf'>, make: () => Kept) {
    this.#driver = driver
    this.#make = make
    this.#one = make()
  }

  /** What is kept for the connection over which this key is served now: another one once its slot is elsewhere. */
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
