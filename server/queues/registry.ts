// Which queues there are, and their metadata: one catalog a project.
//
// Posts and claims need the metadata on every call, so a process remembers it for a moment. With several
// processes this means: a change made through one of them counts in the others about a second later, at
// the latest with the first call after ten seconds. Whoever reads or changes metadata, or lists queues,
// always sees what is stored.

import type { Catalog, Listing, ListOptions, Perilune } from 'perilune'
import type { Limits } from '../limits.ts'
import type { Tenant } from '../zaqar/headers.ts'
import type { Metadata } from '../zaqar/metadata.ts'
import { BoundedMap } from './bounded-map.ts'
import { feedName, type Place } from './place.ts'

interface Remembered {
  /** Null: the queue is not registered. */
  readonly metadata: Promise<Metadata | null>
  readonly since: number
  refreshing: Promise<Metadata | null> | null
}

// Beyond this many times its fresh time, metadata is not used any more before it has been looked at again.
const USABLE_TIMES = 10

export class Registry {
  readonly #perilune: Perilune
  readonly #freshMs: number
  readonly #remembered: BoundedMap<Remembered>

  constructor(perilune: Perilune, { metadataFreshMs, maxRememberedQueues }: Limits) {
    this.#perilune = perilune
    this.#freshMs = metadataFreshMs
    this.#remembered = new BoundedMap(maxRememberedQueues)
  }

  /** Metadata as it was a moment ago; null when the queue is not registered. */
  recall(place: Place): Promise<Metadata | null> {
    const known = this.#remembered.get(feedName(place))
    if (known === undefined) return this.read(place)
    const age = performance.now() - known.since
    if (age < this.#freshMs) return known.metadata
    const refreshing = (known.refreshing ??= this.#refresh(place, known))
    if (age >= this.#freshMs * USABLE_TIMES) return refreshing
    // Nobody waits for it: should it fail, the next call looks by itself.
    refreshing.catch(() => undefined)
    return known.metadata
  }

  /** Metadata as it is stored; null when the queue is not registered. */
  read(place: Place): Promise<Metadata | null> {
    const metadata = this.#catalog(place.tenant).get(place.queue)
    const remembered = this.#remember(place, metadata)
    metadata.catch(() => this.#forget(place, remembered))
    return metadata
  }

  /** Registers a queue. Resolves to false, and changes nothing, when it is registered already. */
  async register(place: Place, metadata: Metadata): Promise<boolean> {
    const created = await this.#catalog(place.tenant).put(place.queue, metadata)
    if (created) this.#remember(place, Promise.resolve(metadata))
    else this.#forget(place)
    return created
  }

  /** Changes metadata in one step. Resolves to null when the queue is not registered. */
  async change(place: Place, change: (metadata: Metadata) => Metadata): Promise<Metadata | null> {
    const metadata = await this.#catalog(place.tenant).update(place.queue, change)
    this.#remember(place, Promise.resolve(metadata))
    return metadata
  }

  async remove(place: Place): Promise<void> {
    await this.#catalog(place.tenant).remove(place.queue)
    this.#remember(place, Promise.resolve(null))
  }

  list(tenant: Tenant, options: ListOptions): Promise<Listing<Metadata>> {
    return this.#catalog(tenant).list(options)
  }

  #catalog(tenant: Tenant): Catalog<Metadata> {
    return this.#perilune.catalog<Metadata>(tenant.scope)
  }

  #remember(place: Place, metadata: Promise<Metadata | null>): Remembered {
    const remembered = { metadata, since: performance.now(), refreshing: null }
    this.#remembered.set(feedName(place), remembered)
    return remembered
  }

  /** Looks again. What this process itself has changed in the meantime stays. */
  async #refresh(place: Place, known: Remembered): Promise<Metadata | null> {
    try {
      const metadata = await this.#catalog(place.tenant).get(place.queue)
      if (this.#remembered.get(feedName(place)) === known) this.#remember(place, Promise.resolve(metadata))
      return metadata
    } catch (error) {
      this.#forget(place, known)
      throw error
    }
  }

  #forget(place: Place, known?: Remembered): void {
    const name = feedName(place)
    if (known === undefined || this.#remembered.get(name) === known) this.#remembered.delete(name)
  }
}
