// The queues of each project, and their metadata: one catalog per project. Posts and claims need some of the metadata
// on every call, so a process remembers the keys with a meaning for a moment; the rest may be large. Reads and changes
// of metadata, and lists of queues, always use the stored data.

import type { Catalog, Listing, ListOptions, Perilune } from 'perilune'
import type { Limits } from '../settings/limits.ts'
import type { Tenant } from '../requests/headers.ts'
import { type Metadata, meaningOf } from '../requests/metadata.ts'
import { feedName, type QueuePlace } from './place.ts'
import { Recollection } from '../../process/recollection.ts'

export class Registry {
  readonly #perilune: Perilune
  /** Null: the queue is not registered. */
  readonly #recollection: Recollection<Metadata | null>

  constructor(perilune: Perilune, { metadataFreshMs, maxRememberedQueues }: Limits) {
    this.#perilune = perilune
    this.#recollection = new Recollection({ freshMs: metadataFreshMs, maxNames: maxRememberedQueues })
  }

  /** The metadata keys with a meaning, as they were a moment ago; null if the queue is not registered. */
  recall(place: QueuePlace): Promise<Metadata | null> {
    return this.#recollection.recall(feedName(place), async () => meaningIn(await this.#look(place)))
  }

  /** Metadata as it is stored; null if the queue is not registered. */
  async read(place: QueuePlace): Promise<Metadata | null> {
    const looking = this.#look(place)
    // From here on, changes of this process are newer.
    await this.#recollection.read(feedName(place), async () => meaningIn(await looking))
    return looking
  }

  /** Registers a queue. Resolves to false, and changes nothing, if it is registered already. */
  async register(place: QueuePlace, metadata: Metadata): Promise<boolean> {
    const created = await this.#catalog(place.tenant).put(place.queue, metadata)
    if (created) this.#recollection.remember(feedName(place), meaningOf(metadata))
    else this.#recollection.forget(feedName(place))
    return created
  }

  /** Changes metadata atomically. Resolves to null if the queue is not registered. */
  async change(place: QueuePlace, change: (metadata: Metadata) => Metadata): Promise<Metadata | null> {
    const metadata = await this.#catalog(place.tenant).update(place.queue, change)
    this.#recollection.remember(feedName(place), meaningIn(metadata))
    return metadata
  }

  async remove(place: QueuePlace): Promise<void> {
    await this.#catalog(place.tenant).remove(place.queue)
    this.#recollection.remember(feedName(place), null)
  }

  list(tenant: Tenant, options: ListOptions): Promise<Listing<Metadata>> {
    return this.#catalog(tenant).list(options)
  }

  #look(place: QueuePlace): Promise<Metadata | null> {
    return this.#catalog(place.tenant).get(place.queue)
  }

  #catalog(tenant: Tenant): Catalog<Metadata> {
    return this.#perilune.catalog<Metadata>(tenant.scope)
  }
}

function meaningIn(metadata: Metadata | null): Metadata | null {
  return metadata === null ? null : meaningOf(metadata)
}
