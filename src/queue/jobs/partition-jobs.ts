// Single jobs of a queue in partitions. The ids that the queue gives tell the partition; a job's own id is looked for
// where it is when the job has no group, and then everywhere.

import { checkOptions, checkText } from '../../runtime/values/arguments.ts'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { unlessAborted } from '../../runtime/time/in-time.ts'
import { toWaitMs, type Waiting } from '../../runtime/waiting/wait.ts'
import { type Ask, askEach, pageThrough, placeId } from '../partitions/calls.ts'
import { ABSENT, type JobEnd } from './job-end.ts'
import {
  changeParentsOf,
  type Parent,
  type ParentId,
  type ParentsChanged,
  type ParentsPage,
  type ParentsPageOptions,
  toParents,
} from './parents.ts'
import type { FoundJob, FoundPage, JobHistory } from './job.ts'
import {
  checkLimit,
  type Failures,
  type JobListOptions,
  type JobPage,
  Jobs,
  type RequeueOutcome,
  type SearchOptions,
  type StateListOptions,
} from './jobs.ts'
import { asCalledAt, everyName, idsOfQueue } from '../partitions/parent-addresses.ts'
import type { Source } from '../source/source.ts'
import { countTags, type TagCount } from './tags.ts'

const PAGE_BYTES = 4 * 1024 * 1024
const ignore = (): void => undefined

type ListName = Parameters<Jobs['list']>[0]

interface Place {
  readonly partition: number
  /** What the partition calls the job. */
  readonly own: string
}

export class PartitionedJobs {
  readonly #sources: readonly Source[]
  readonly #parts: readonly Jobs[]
  readonly #check: () => Promise<void>

  /** `check`: that the queue has so many partitions. */
  constructor(sources: readonly Source[], check: () => Promise<void>) {
    this.#sources = sources
    this.#parts = sources.map((source) => new Jobs(source))
    this.#check = check
  }

  /** The job with this id, its own or the one the queue gave it; null when it is not known (any more). */
  async find(id: string): Promise<FoundJob | null> {
    const [job = null] = await this.findMany([id])
    return job
  }

  /** Those of the jobs that are known; others are left out. Throws InvalidArgumentError. */
  async findMany(ids: readonly string[]): Promise<FoundJob[]> {
    const found = await this.#ofEach(ids, (jobs, own) => jobs.findEach(own), null)
    return found.filter((job) => job !== null)
  }

  /** As that of a queue, but that `left` may have any of the ids. Partitions are asked one after the other. */
  async findPage(ids: readonly string[]): Promise<FoundPage> {
    let [before, room] = [Promise.resolve(), PAGE_BYTES]
    const findSome = async (jobs: Jobs, own: string[]): Promise<(FoundJob | 'left' | null)[]> => {
      const { jobs: some, bytes } = room > 0 ? await jobs.findSome(own) : { jobs: [], bytes: 0 }
      room -= bytes
      return own.map((_, at) => (at < some.length ? (some[at] ?? null) : 'left'))
    }
    const inTurn = (jobs: Jobs, own: string[]): ReturnType<typeof findSome> => {
      const finding = before.then(() => findSome(jobs, own))
      before = finding.then(ignore, ignore)
      return finding
    }
    const found = await this.#ofEach(ids, inTurn, null)
    return {
      jobs: found.filter((job) => job !== null && job !== 'left'),
      left: ids.filter((_, at) => found[at] === 'left'),
    }
  }

  /** What happened to the job, from the time it was enqueued until now; null when it is not known (any more). */
  history(id: string): Promise<JobHistory | null> {
    return this.#ofOne(id, (jobs, own) => jobs.history(own), null)
  }

  /**
   * As that of a queue. A job's own id is one that is known when the call begins: else it is only asked how it ended.
   */
  async waitForResult(id: string, options: Waiting = {}): Promise<JobEnd | null> {
    checkOptions('options', options, ['wait', 'signal'])
    toWaitMs(options)
    options.signal?.throwIfAborted()
    const place = await unlessAborted(this.#placeOf(id), options.signal)
    if (place !== null) return this.#part(place).waitForResult(place.own, options)
    const ended = this.#ofOne(
      id,
      async (jobs, own) => {
        const end = await jobs.waitForResult(own)
        return end?.state === 'absent' ? ABSENT : end
      },
      ABSENT,
    )
    return unlessAborted(ended, options.signal)
  }

  /** Adds a line to the log of a job, whatever its state. Resolves to false when it is not known (any more). */
  log(id: string, line: string): Promise<boolean> {
    return this.#ofOne(id, (jobs, own) => jobs.log(own, line), false)
  }

  /** As that of a queue, one partition after the other: an order there is only in each of them. Throws InvalidArgumentError. */
  async list(state: ListName, { after, ...options }: StateListOptions = {}): Promise<JobPage> {
    return this.#page(after, (jobs, own) => jobs.list(state, { ...options, ...own }))
  }

  /** As that of a queue, one partition after the other; pass `next` on as `after`. Throws InvalidArgumentError. */
  async search({ after, ...options }: SearchOptions = {}): Promise<JobPage> {
    return this.#page(after, (jobs, own) => jobs.search({ ...options, ...own }))
  }

  /** The most common tags, with how many jobs have each; `limit` of them, by default 50. All tags are looked at. */
  async tags(options: { limit?: number } = {}): Promise<TagCount[]> {
    checkOptions('options', options, ['limit'])
    const checked = checkLimit(options.limit)
    await this.#check()
    return countTags(this.#sources, checked)
  }

  /** As that of a queue. Throws InvalidArgumentError. */
  tag(id: string, tags: readonly string[]): Promise<string[] | null> {
    return this.#ofOne(id, (jobs, own) => jobs.tag(own, tags), null)
  }

  /** As that of a queue. Throws InvalidArgumentError. */
  untag(id: string, tags: readonly string[]): Promise<string[] | null> {
    return this.#ofOne(id, (jobs, own) => jobs.untag(own, tags), null)
  }

  /** Follows a job: `isTracked` says so, and its events. Resolves to false when it is not known (any more). */
  track(id: string): Promise<boolean> {
    return this.#ofOne(id, (jobs, own) => jobs.track(own), false)
  }

  /** Follows a job no more. Resolves to false when it is not known (any more). Throws InvalidArgumentError. */
  untrack(id: string): Promise<boolean> {
    return this.#ofOne(id, (jobs, own) => jobs.untrack(own), false)
  }

  /** The jobs that are followed, one partition after the other, the oldest of each first. */
  async tracked({ after, ...options }: JobListOptions = {}): Promise<JobPage> {
    return this.#page(after, (jobs, own) => jobs.tracked({ ...options, ...own }))
  }

  /**
   * Cancels jobs: `cancelled` are gone; `stopping` are at work, and their workers will be told; `absent` are not known.
   */
  cancel(ids: readonly string[]): Promise<('cancelled' | 'stopping' | 'absent')[]> {
    return this.#ofEach(ids, (jobs, own) => jobs.cancel(own), 'absent')
  }

  /** The jobs that a job waits for, or waited for; none where it has none, or is not known (any more). */
  async parents(id: string): Promise<Parent[]> {
    const place = await this.#placeOf(id)
    return place === null ? [] : this.#part(place).parents(place.own)
  }

  /** As that of a queue. */
  async parentsPage(id: string, options: ParentsPageOptions = {}): Promise<ParentsPage> {
    const place = await this.#placeOf(id)
    return place === null ? { parents: [], next: null } : this.#part(place).parentsPage(place.own, options)
  }

  /** As that of a queue, for parents in the partition of the job: elsewhere the older one is not known. Throws InvalidArgumentError. */
  async addParents(id: string, parents: readonly string[]): Promise<ParentsChanged> {
    const named = idsOfQueue(toParents(parents), this.#queue)
    if (named.length < new Set(parents).size)
      throw new InvalidArgumentError('parents', 'must be ids of this queue')
    refuseOthers([id, ...named].map((each) => placeId(each, this.#parts.length, 'parents')))
    const place = await this.#placeOf(id)
    if (place === null) return 'absent'
    const places = named.length === 0 ? [] : await Promise.all(named.map((parent) => this.#placeOf(parent)))
    refuseOthers([place, ...places])
    const own = places.flatMap((each) => each?.own ?? [])
    return this.#part(place).addParents(place.own, own)
  }

  /** Lets a blocked job wait for fewer jobs; without any it becomes ready. */
  async removeParents(id: string, parents: readonly ParentId[]): Promise<ParentsChanged> {
    const named = everyName(toParents(parents), this.#queue)
    const place = await this.#placeOf(id)
    if (place === null) return 'absent'
    const source = this.#sources[place.partition] as Source
    return changeParentsOf(source, place.own, asCalledAt(source.address, named), false)
  }

  /**
   * Makes scheduled, blocked, dead and kept jobs ready now; their attempts count from the start. Resolves, in the order of
   * the ids, to `requeued`, to the state of a job that stays as it is, to `absent`, or to `duplicate`: another job has its unique
   * key, which it would need again. Throws InvalidArgumentError.
   */
  requeue(ids: readonly string[]): Promise<RequeueOutcome[]> {
    return this.#ofEach(ids, (jobs, own) => jobs.requeue(own), 'absent')
  }

  /**
   * Gives jobs that are not claimed another priority. Resolves, in the order of the ids, to `changed`, `claimed` or `absent`.
   * Throws InvalidArgumentError.
   */
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

  /** @internal In which partitions they are that have ids of their own; null: in none. */
  partitionsOf(ids: readonly string[]): Promise<(number | null)[]> {
    const find = async (jobs: Jobs, own: string[]): Promise<(number | null)[]> => {
      const found = await jobs.findEach(own)
      return found.map((job) => (job === null ? null : this.#parts.indexOf(jobs)))
    }
    return this.#ofEach(ids, find, null)
  }

  /** Null where no partition knows it. The ids that the queue gives tell the partition, whatever became of the job. */
  async #placeOf(id: string): Promise<Place | null> {
    const given = placeId(checkText('id', id, 512), this.#parts.length, 'id')
    if (given !== null) {
      await this.#check()
      return { partition: given.partition, own: given.number }
    }
    const [partition = null] = await this.partitionsOf([id])
    return partition === null ? null : { partition, own: id }
  }

  #part({ partition }: Place): Jobs {
    return this.#parts[partition] as Jobs
  }

  get #queue(): Source {
    return this.#sources[0] as Source
  }

  async #ofAll<Told>(call: (jobs: Jobs) => Promise<Told>): Promise<Told[]> {
    await this.#check()
    return Promise.all(this.#parts.map(call))
  }

  #ofEach<Told>(ids: readonly string[], call: Ask<Jobs, Told>, absent: Told): Promise<Told[]> {
    return askEach(this.#parts, this.#check, ids, call, absent)
  }

  /** What one call says of the job, `absent` where no partition knows it. */
  async #ofOne<Told>(
    id: string,
    call: (jobs: Jobs, own: string) => Promise<Told>,
    absent: Told,
  ): Promise<Told> {
    const [told = absent] = await this.#ofEach(
      [id],
      (jobs, [own]) => alone(call(jobs, own as string)),
      absent,
    )
    return told
  }

  #page(
    after: string | undefined,
    look: (jobs: Jobs, own: { after?: string }) => Promise<JobPage>,
  ): Promise<JobPage> {
    return pageThrough(this.#parts, this.#check, after, look, ({ jobs }) => jobs.length === 0)
  }
}

/** A job and its parents, null where it is not known; throws InvalidArgumentError where they are not in one partition. */
function refuseOthers(places: readonly ({ readonly partition: number } | null)[]): void {
  if (new Set(places.flatMap((place) => place?.partition ?? [])).size <= 1) return
  throw new InvalidArgumentError('parents', 'must be in the partition of the job: give them its group')
}

async function alone<Told>(telling: Promise<Told>): Promise<Told[]> {
  return [await telling]
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
