// The queues of a tenant, and the partition count of each: one catalog per tenant. The first request that may begin a
// queue adds it. Only the list depends on the catalog: a request itself names the right queue, and is rejected here
// only if the name belongs to a queue with another partition count.
//
// A process remembers entries. Another one may have removed such an entry before a request began the queue again: a
// second after a request that relied on its memory the process looks whether the entry is still there.

import type { FastifyRequest } from 'fastify'
import { type Catalog, InvalidArgumentError, type Listing, type Perilune } from 'perilune'
import { Afterwards } from '../../process/afterwards.ts'
import { Recollection } from '../../process/recollection.ts'
import { nameOf } from '../../http/requests/tenant.ts'
import { openQueue } from './open.ts'
import { isThere } from './pictures.ts'

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

/** An entry of which a request knew from memory. */
interface Relied extends KnownQueue {
  readonly place: Place
}

export class KnownQueues {
  readonly #perilune: Perilune
  /** Null: it is not in the catalog. */
  readonly #recollection = new Recollection<KnownQueue | null>({ freshMs: 1000, maxNames: 10_000 })
  /** The entries that each request has added to the catalog. */
  readonly #put = new WeakMap<FastifyRequest, Named[]>()
  readonly #relied = new WeakMap<FastifyRequest, Relied[]>()
  readonly #confirmations = new Afterwards<Relied>((relied) => this.#confirm(relied))

  constructor(perilune: Perilune) {
    this.#perilune = perilune
  }

  /** Throws InvalidArgumentError if the queue of the request is known to have another number of partitions. */
  async check(request: FastifyRequest): Promise<void> {
    const place = this.#placeOf(request)
    const partitions = partitionsOf(request)
    if (isLike(await this.#recall(place), partitions)) return
    // The remembered entry may be outdated.
    refuseOther(await this.#read(place), partitions)
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
    this.#put.delete(request)
  }

  /** After the request: the entries that it relied on are looked at again. */
  confirmLater(request: FastifyRequest): void {
    for (const relied of this.#relied.get(request) ?? []) this.#confirmations.add(relied.place.key, relied)
  }

  /** Looks at all of them now. */
  close(): Promise<void> {
    return this.#confirmations.flush()
  }

  /** Removes the entries that the request has added, if it began no queue after all. */
  async takeBack(request: FastifyRequest): Promise<void> {
    const named = this.#put.get(request) ?? []
    await Promise.all(
      named.map(async ({ name, partitions }) => {
        const place = this.#placeOf(request, name)
        if (!(await this.#isThere(place, partitions))) await this.#remove(place)
      }),
    )
  }

  /** Throws InvalidArgumentError if another queue is known to have partitions: its partitions cannot be named. */
  async checkOther(request: FastifyRequest, name: string, argument: string): Promise<void> {
    const place = this.#placeOf(request, name, argument)
    // Not from memory: jobs would wait for one that never comes, or not at all.
    if (isLike(await this.#read(place), null)) return
    throw new InvalidArgumentError(argument, 'must not be a queue in partitions')
  }

  /** The queues of the tenant, by their names. */
  list(request: FastifyRequest, options: { after?: string; limit?: number }): Promise<Listing<KnownQueue>> {
    return this.#catalogOf(request).list(options)
  }

  /** Before the queue of the request is cleared: a concurrent user adds it again. */
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
    if (known !== null && isLike(known, partitions)) {
      this.#relied.set(request, [...(this.#relied.get(request) ?? []), { place, partitions }])
      return
    }
    if (await place.catalog.put(name, { partitions })) {
      this.#recollection.remember(place.key, { partitions })
      this.#put.set(request, [...(this.#put.get(request) ?? []), { name, partitions }])
    } else refuseOther(await this.#read(place), partitions)
  }

  async #confirm({ place, partitions }: Relied): Promise<void> {
    if ((await this.#read(place)) !== null || !(await this.#isThere(place, partitions))) return
    if (await place.catalog.put(place.name, { partitions })) {
      this.#recollection.remember(place.key, { partitions })
    }
  }

  async #isThere({ key }: Place, partitions: number | null): Promise<boolean> {
    return isThere(await openQueue(this.#perilune, key, partitions).inspect())
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

function refuseOther(known: KnownQueue | null, partitions: number | null): void {
  if (known === null || isLike(known, partitions)) return
  const why =
    known.partitions === null
      ? 'must be left out: the queue has no partitions'
      : `must be ${known.partitions}: the queue has so many`
  throw new InvalidArgumentError('partitions', why)
}
