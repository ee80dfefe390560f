// Single jobs of a queue in partitions. The ids that the queue gives tell the partition; a job's own id is looked for
// where it is when the job has no group, and then everywhere.

import { checkText } from '../runtime/arguments.ts'
import { InvalidArgumentError } from '../runtime/errors.ts'
import { partitionOf } from '../runtime/partition-hash.ts'
import { placeOf } from './ids.ts'
import type { Job, JobState } from './job.ts'
import type { Failures, JobListOptions, JobPage, Jobs, SearchOptions } from './jobs.ts'

type ListName = Parameters<Jobs['list']>[0]

export class PartitionedJobs {
  readonly #parts: readonly Jobs[]
  readonly #check: () => Promise<void>

  /** `check`: that the queue has so many partitions. */
  constructor(parts: readonly Jobs[], check: () => Promise<void>) {
    this.#parts = parts
    this.#check = check
  }

  /** The job with this id, its own or the one the queue gave it; null when it is not known (any more). */
  async find(id: string): Promise<Job | null> {
    const [job = null] = await this.findMany([id])
    return job
  }

  /** Those of the jobs that are known. */
  async findMany(ids: readonly string[]): Promise<Job[]> {
    const found = await this.#ofEach(ids, (jobs, own) => jobs.findEach(own), null)
    return found.filter((job) => job !== null)
  }

  /** As that of a queue, one partition after the other: an order there is only in each of them. */
  async list(state: ListName, { after, ...options }: JobListOptions = {}): Promise<JobPage> {
    return this.#page(after, (jobs, own) => jobs.list(state, { ...options, ...own }))
  }

  async search({ after, ...options }: SearchOptions = {}): Promise<JobPage> {
    return this.#page(after, (jobs, own) => jobs.search({ ...options, ...own }))
  }

  /**
   * Cancels jobs: `cancelled` are gone; `stopping` are at work, and their workers will be told; `absent` are not known.
   */
  cancel(ids: readonly string[]): Promise<('cancelled' | 'stopping' | 'absent')[]> {
    return this.#ofEach(ids, (jobs, own) => jobs.cancel(own), 'absent')
  }

  /** Makes scheduled, dead and kept jobs ready now; their attempts count from the start. */
  requeue(ids: readonly string[]): Promise<('requeued' | JobState | 'absent')[]> {
    return this.#ofEach(ids, (jobs, own) => jobs.requeue(own), 'absent')
  }

  /** Gives jobs that are not claimed another priority. */
  reprioritize(ids: readonly string[], priority: number): Promise<('changed' | 'claimed' | 'absent')[]> {
    return this.#ofEach(ids, (jobs, own) => jobs.reprioritize(own, priority), 'absent')
  }

  /** What jobs are dead of, a thousand kinds in each partition at most. */
  async failures(): Promise<Failures[]> {
    const kinds = new Map<string, Failures>()
    const all = await this.#ofAll((jobs) => jobs.failures())
    for (const each of all.flat()) kinds.set(each.kind, together(kinds.get(each.kind) ?? null, each))
    return [...kinds.values()]
  }

  /** Makes all jobs ready again that are dead of this kind of failure. Resolves to their number. */
  async requeueFailed(kind: string): Promise<number> {
    return sum(await this.#ofAll((jobs) => jobs.requeueFailed(kind)))
  }

  /** Removes all jobs that are dead of this kind of failure. Resolves to their number. */
  async dropFailed(kind: string): Promise<number> {
    return sum(await this.#ofAll((jobs) => jobs.dropFailed(kind)))
  }

  async #ofAll<Told>(call: (jobs: Jobs) => Promise<Told>): Promise<Told[]> {
    await this.#check()
    return Promise.all(this.#parts.map(call))
  }

  /** What one call says of each of the ids, in their order. */
  async #ofEach<Told>(
    ids: readonly string[],
    call: (jobs: Jobs, own: string[]) => Promise<Told[]>,
    absent: Told,
  ): Promise<Told[]> {
    const wanted = this.#place(ids)
    await this.#check()
    const told = new Map<number, Told>()
    const ask = async (partition: number, places: readonly Wanted[]): Promise<void> => {
      if (places.length === 0) return
      const answers = await call(
        this.#parts[partition] as Jobs,
        places.map(({ own }) => own),
      )
      for (const [at, answer] of answers.entries()) {
        if (answer !== absent) told.set((places[at] as Wanted).at, answer)
      }
    }
    const partitions = [...this.#parts.keys()]
    await Promise.all(
      partitions.map((each) =>
        ask(
          each,
          wanted.filter(({ home }) => home === each),
        ),
      ),
    )
    const missing = wanted.filter(({ at, surely }) => !surely && !told.has(at))
    await Promise.all(
      partitions.map((each) =>
        ask(
          each,
          missing.filter(({ home }) => home !== each),
        ),
      ),
    )
    return ids.map((_, at) => told.get(at) ?? absent)
  }

  #place(ids: readonly string[]): Wanted[] {
    if (!Array.isArray(ids) || ids.length === 0 || ids.length > 1000) {
      throw new InvalidArgumentError('ids', 'must be a list of 1 to 1000 ids')
    }
    return ids.map((id, at) => {
      const place = placeOf(checkText('ids', id, 512))
      if (place === null)
        return { at, own: id, home: partitionOf(id, this.#parts.length, 'ids'), surely: false }
      if (place.partition >= this.#parts.length) {
        throw new InvalidArgumentError('ids', `name partition ${place.partition} of ${this.#parts.length}`)
      }
      return { at, own: place.number, home: place.partition, surely: true }
    })
  }

  async #page(
    after: string | undefined,
    look: (jobs: Jobs, own: { after?: string }) => Promise<JobPage>,
  ): Promise<JobPage> {
    let { partition, own } = this.#marker(after)
    await this.#check()
    for (;;) {
      const { jobs, next } = await look(this.#parts[partition] as Jobs, own)
      if (next !== null) return { jobs, next: `${partition}-${next}` }
      partition += 1
      if (partition === this.#parts.length) return { jobs, next: null }
      if (jobs.length > 0) return { jobs, next: `${partition}-0` }
      own = {}
    }
  }

  #marker(after: string | undefined): { partition: number; own: { after?: string } } {
    if (after === undefined) return { partition: 0, own: {} }
    const place = placeOf(after)
    if (place === null || place.partition >= this.#parts.length) {
      throw new InvalidArgumentError('after', 'must be the next of a page')
    }
    return { partition: place.partition, own: { after: place.number } }
  }
}

interface Wanted {
  readonly at: number
  /** What its partition calls the job. */
  readonly own: string
  readonly home: number
  /** False where the job may be in another partition. */
  readonly surely: boolean
}

function together(one: Failures | null, other: Failures): Failures {
  if (one === null) return other
  const newer = one.lastAtMs > other.lastAtMs ? one : other
  return {
    kind: one.kind,
    count: one.count + other.count,
    firstAtMs: Math.min(one.firstAtMs, other.firstAtMs),
    lastAtMs: newer.lastAtMs,
    sample: newer.sample,
  }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}
