// Plain reads. Those of one tick travel together, as one MGET, and the same key is read once. A read that was sent is
// not joined by anybody: he may know of an invalidation that came after it (docs/decisions/0028).

import { Places } from '../runtime/calls/places.ts'
import { closed } from '../runtime/calls/runner.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { ReadsAtPlace } from './connection-reads.ts'
import { Waiting } from './waiting-read.ts'

export class Reads {
  readonly #runtime: Runtime
  /** Each connection has room of its own. */
  readonly #places: Places<ReadsAtPlace>
  #gathered = new Map<string, Waiting>()

  constructor(runtime: Runtime) {
    this.#runtime = runtime
    this.#places = new Places(runtime.runner.driver, () => new ReadsAtPlace(runtime))
  }

  /** The bytes of this key; resolves to null when there are none. Rejects with DriverError when no answer came in time, or none of bytes. */
  get(key: string, withinMs: number): Promise<Buffer | null> {
    return this.#get(key, withinMs, false)
  }

  /** As `get`, of what may be large: when there is room for it. Rejects with DriverError `overloaded` where there is none in time. */
  getLarge(key: string, withinMs: number): Promise<Buffer | null> {
    return this.#get(key, withinMs, true)
  }

  /** A value of so many bytes is there to be read under this key. */
  stored(key: string, bytes: number): void {
    this.#places.of(key).stored(bytes)
  }

  #get(key: string, withinMs: number, mayBeLarge: boolean): Promise<Buffer | null> {
    if (this.#runtime.runner.closed) return Promise.reject(closed())
    const joined = this.#gathered.get(key)
    if (joined !== undefined) return joined.promise
    if (this.#gathered.size === 0) process.nextTick(() => this.#send(withinMs))
    const waiting = new Waiting(key, mayBeLarge)
    this.#gathered.set(key, waiting)
    return waiting.promise
  }

  #send(withinMs: number): void {
    const all = [...this.#gathered.values()]
    this.#gathered = new Map()
    if (this.#runtime.runner.closed) return all.forEach(({ reject }) => reject(closed()))
    for (const [place, waiting] of this.#byPlace(all)) place.send(waiting, withinMs)
  }

  #byPlace(all: readonly Waiting[]): Map<ReadsAtPlace, Waiting[]> {
    const places = new Map<ReadsAtPlace, Waiting[]>()
    for (const waiting of all) {
      const place = this.#places.of(waiting.key)
      const others = places.get(place)
      if (others === undefined) places.set(place, [waiting])
      else others.push(waiting)
    }
    return places
  }
}
