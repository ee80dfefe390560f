// Where the jobs of a queue in partitions go, and in which order.

import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { partitionOf } from '../../runtime/partitions/partition-hash.ts'
import { placeId } from '../partitions/calls.ts'
import type { Outgoing } from './enqueuer.ts'
import { looksGiven, placeOf } from '../source/ids.ts'
import type { SpecOptions } from './job-options.ts'
import { asCalledAt, idsOfQueue, withAddresses } from '../partitions/parent-addresses.ts'
import type { Source } from '../source/source.ts'

export interface Routed {
  readonly job: Outgoing
  readonly partition: number
  /** Its place in the list. */
  readonly at: number
}

/** Null where any will do. Throws InvalidArgumentError. */
export function homeOf({ group, id, unique, idempotencyKey }: SpecOptions, count: number): number | null {
  if (looksGiven(id)) throw new InvalidArgumentError('id', 'must not be digits, a dash and digits')
  const decisive = group || id || unique || idempotencyKey
  return decisive === '' ? null : partitionOf(decisive, count, group !== '' ? 'group' : 'id')
}

const LOCATED = 1000

export class Router {
  readonly #sources: readonly Source[]
  readonly #find: (ids: readonly string[]) => Promise<(number | null)[]>
  #turn: number

  /** `find`: in which partitions jobs are that have ids of their own. */
  constructor(sources: readonly Source[], find: (ids: readonly string[]) => Promise<(number | null)[]>) {
    this.#sources = sources
    this.#find = find
    this.#turn = Math.floor(Math.random() * sources.length)
  }

  /** Throws InvalidArgumentError. */
  route(jobs: readonly Outgoing[]): Routed[] {
    return jobs.map((job, at) => {
      const given = this.#givenParents(job)
      const partition = homeOf(job.options, this.#sources.length) ?? given[0] ?? this.#next()
      return { job, partition, at }
    })
  }

  /** In steps: what waits for a job in another partition comes there when that one is known. */
  async inSteps(routed: readonly Routed[]): Promise<Routed[][]> {
    if (routed.every(({ job }) => job.options.parents === '')) return [[...routed]]
    const located = await this.#locate(routed)
    const steps: Routed[][] = [[]]
    let ofStep = new Map<string, number>()
    for (const each of routed) {
      const { partition, job } = each
      const parents = idsOfQueue(job.options.parents, this.#queue)
      if (parents.some((id) => (ofStep.get(id) ?? partition) !== partition)) {
        steps.push([])
        ofStep = new Map()
      }
      steps.at(-1)?.push(this.#withParents(each, located))
      // From here on it is there, whoever asks.
      if (job.options.id !== '') {
        ofStep.set(job.options.id, partition)
        located.set(job.options.id, partition)
      }
    }
    return steps
  }

  get #queue(): Source {
    return this.#sources[0] as Source
  }

  #next(): number {
    this.#turn = (this.#turn + 1) % this.#sources.length
    return this.#turn
  }

  /** The partitions of parents whose ids tell them. Throws InvalidArgumentError. */
  #givenParents({ options: { parents } }: Outgoing): number[] {
    if (parents === '') return []
    const places = idsOfQueue(parents, this.#queue).map((id) => placeId(id, this.#sources.length, 'parents'))
    return places.flatMap((place) => place?.partition ?? [])
  }

  async #locate(routed: readonly Routed[]): Promise<Map<string, number>> {
    const named = routed.flatMap(({ job }) => idsOfQueue(job.options.parents, this.#queue))
    const own = [...new Set(named)].filter((id) => placeOf(id) === null)
    const located = new Map<string, number>()
    for (let from = 0; from < own.length; from += LOCATED) {
      const ids = own.slice(from, from + LOCATED)
      for (const [at, partition] of (await this.#find(ids)).entries()) {
        if (partition !== null) located.set(ids[at] as string, partition)
      }
    }
    return located
  }

  #withParents(routed: Routed, located: ReadonlyMap<string, number>): Routed {
    const { job, partition } = routed
    const { options } = job
    if (options.parents === '') return routed
    const addressed = withAddresses(options.parents, this.#queue, (id) => located.get(id) ?? null)
    const { address } = this.#sources[partition] as Source
    return { ...routed, job: { ...job, options: { ...options, parents: asCalledAt(address, addressed) } } }
  }
}
