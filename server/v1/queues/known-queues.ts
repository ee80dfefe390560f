// The queues of a tenant, and the partition count of each: one catalog per tenant. The first request that may begin a
// queue adds it. Only the list depends on the catalog: a request itself names the right queue, and is rejected here
// only if the name belongs to a queue with another partition count.
//
// A process remembers entries. Another one may have removed such an entry before a request began the queue again: a
// second after such a request the process looks whether the entry is still there.

import type { FastifyRequest } from 'fastify'
import { type Catalog, InvalidArgumentError, type Listing, type Perilune } from 'perilune'
import { Afterwards } from '../../process/afterwards.ts'
import { Recollection } from '../../process/recollection.ts'
import { nameOf } from '../../http/requests/tenant.ts'
import { openQueue } from './open.ts'
import { pictureOf } from './pictures.ts'

/** The catalog entry of a queue; null: it has no partitions. */
export interface KnownQueue {
  readonly partitions: number | null
}

interface Named extends KnownQueue {
  readonly name: string
}

interface Place {
  readonly catalog: Catalog<KnownQueue>
  /** The name that its tenant uses. */
  readonly name: string
  /** A name that is unique among all tenants. */
  readonly key: string
}

/** A queue that a request may have begun. */
interface Begun extends KnownQueue {
  readonly place: Place
}

const CLOSING_MS = 1000

export class KnownQueues {
  readonly #perilune: Perilune
  /** Null: it is not in the catalog. */
  readonly #recollection = new Recollection<KnownQueue | null>({ freshMs: 1000, maxNames: 10_000 })
  /** The entries that each request has added to the catalog. */
  readonly #added = new WeakMap<FastifyRequest, Named[]>()
  readonly #begun = new WeakMap<FastifyRequest, Begun[]>()
  readonly #confirmations = new Afterwards<Begun>((begun) => this.#confirm(begun))

  constructor(perilune: Perilune) {
    this.#perilune = perilune
  }

  /** Throws InvalidArgumentError if the queue of the request is known to have another number of partitions. */
  async check(request: FastifyRequest): Promise<void> {
    const place = this.#placeOf(request)
    const partitions = partitionsOf(request)
    if (isLike(await this.#recall(place), partitions)) return
    // The remembered entry may be outdated.
    await this.#refuseOther(place, partitions)
  }

  /** Like `check`, before a request that may begin the queue: adds it to the catalog. */
  async begin(request: FastifyRequest): Promise<void> {
    await this.#begin(request, queueOf(request), partitionsOf(request))
  }

  /** Before a request that may begin another queue, which must be one without partitions. */
  async beginOther(request: FastifyRequest, name: string, argument: string): Promise<void> {
    await this.checkOther(request, name, argument)
    await this.#begin(request, name, null)
  }

  /** Keeps the entries that the request has added: the queue is being created. */
  keep(request: FastifyRequest): void {
    this.#added.delete(request)
  }

  /** After the request: the entries of the queues that it may have begun are looked at again. */
  confirmLater(request: FastifyRequest): void {
    for (const begun of this.#begun.get(request) ?? []) {
      // Another request may name another number of partitions.
      this.#confirmations.add(`${begun.partitions} ${begun.place.key}`, begun)
    }
  }

  /** Looks at all that is due, within a second: the service is closing, and Redis may be away. */
  close(): Promise<void> {
    return this.#confirmations.close(CLOSING_MS)
  }

  /** Removes the entries that the request has added, if it began no queue after all. */
  async takeBack(request: FastifyRequest): Promise<void> {
    const named = this.#added.get(request) ?? []
    await Promise.all(
      named.map(async ({ name, partitions }) => {
        const place = this.#placeOf(request, name)
        if (!(await this.#isThere(place, partitions))) await this.#remove(place)
      }),
    )
  }

  /**
   * Throws InvalidArgumentError if another queue has partitions, because these cannot be named, or another codec. Asks
   * the queue itself, not the catalog: a job would not wait for its dependency, and a follow-up would never arrive.
   */
  async checkOther(request: FastifyRequest, name: string, argument: string): Promise<void> {
    const queue = openQueue(this.#perilune, nameOf(request, name, argument), null)
    await queue.inspect().catch((error: unknown) => {
      if (!(error instanceof InvalidArgumentError)) throw error
      const why = error.argument === 'codec' ? 'must be a queue of JSON' : 'must not be a queue in partitions'
      throw new InvalidArgumentError(argument, why)
    })
  }

  /** The queues of the tenant, by their names. */
  list(request: FastifyRequest, options: { after?: string; limit?: number }): Promise<Listing<KnownQueue>> {
    return this.#catalogOf(request).list(options)
  }

  /** After the queue of the request was cleared. */
  async remove(request: FastifyRequest): Promise<void> {
    await this.#remove(this.#placeOf(request))
  }

  async #remove({ catalog, name, key }: Place): Promise<void> {
    await catalog.remove(name)
    this.#recollection.forget(key)
  }

  async #begin(request: FastifyRequest, name: string, partitions: number | null): Promise<void> {
    const place = this.#placeOf(request, name)
    const known = await this.#recall(place)
    this.#begun.set(request, [...(this.#begun.get(request) ?? []), { place, partitions }])
    if (known !== null && isLike(known, partitions)) return
    if (!(await this.#put(place, partitions))) {
      await this.#refuseOther(place, partitions)
      if (!(await this.#put(place, partitions))) return
    }
    this.#added.set(request, [...(this.#added.get(request) ?? []), { name, partitions }])
  }

  /** False when the catalog has an entry of this name. */
  async #put({ catalog, name, key }: Place, partitions: number | null): Promise<boolean> {
    const isNew = await catalog.put(name, { partitions })
    if (isNew) this.#recollection.remember(key, { partitions })
    return isNew
  }

  /** Throws if the queue has another number of partitions; removes an entry that says so wrongly. */
  async #refuseOther(place: Place, partitions: number | null): Promise<void> {
    const known = await this.#read(place)
    if (known === null || isLike(known, partitions)) return
    if (await this.#isThere(place, known.partitions)) throw refusalOf(known)
    await this.#remove(place)
  }

  async #confirm({ place, partitions }: Begun): Promise<void> {
    const known = await this.#read(place)
    if (known?.partitions === partitions || !(await this.#isThere(place, partitions))) return
    if (known !== null) await this.#remove(place)
    await this.#put(place, partitions)
  }

  #isThere({ key }: Place, partitions: number | null): Promise<boolean> {
    return pictureOf(openQueue(this.#perilune, key, partitions)).then((picture) => picture !== null)
  }

  #recall(place: Place): Promise<KnownQueue | null> {
    return this.#recollection.recall(place.key, () => place.catalog.get(place.name))
  }

  #read(place: Place): Promise<KnownQueue | null> {
    return this.#recollection.read(place.key, () => place.catalog.get(place.name))
  }

  #placeOf(request: FastifyRequest, name = queueOf(request), argument = 'name'): Place {
    return { catalog: this.#catalogOf(request), name, key: nameOf(request, name, argument) }
  }

  #catalogOf(request: FastifyRequest): Catalog<KnownQueue> {
    return this.#perilune.catalog<KnownQueue>(nameOf(request, 'queues'))
  }
}

function queueOf(request: FastifyRequest): string {
  return (request.params as { name: string }).name
}

function partitionsOf(request: FastifyRequest): number | null {
  return (request.query as { partitions?: number }).partitions ?? null
}

/** An unknown queue may have any number of partitions. */
function isLike(known: KnownQueue | null, partitions: number | null): boolean {
  return known === null || known.partitions === partitions
}

function refusalOf({ partitions }: KnownQueue): InvalidArgumentError {
  const why =
    partitions === null
      ? 'must be left out: the queue has no partitions'
      : `must be ${partitions}: the queue has so many`
  return new InvalidArgumentError('partitions', why)
}
