// Reads and changes single jobs of a queue. In a partitioned queue the ids that the queue assigns name the partition.
// A job's own id is looked up in the partition of a job without a group first, and then in all others.

import { checkOptions, checkText } from '../../runtime/values/arguments.ts'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { unlessAborted } from '../../runtime/time/in-time.ts'
import { toWaitMs, type Waiting } from '../../runtime/waiting/wait.ts'
import {
  asCalledAt,
  type Ask,
  askEach,
  everyName,
  idsOfQueue,
  pageThrough,
  placeId,
} from '../partitions/partitions.ts'
import { ABSENT, type JobEnd } from './job-end.ts'
import {
  changeDependenciesOf,
  type Dependency,
  type DependencyId,
  type DependenciesChanged,
  type DependenciesPage,
  type DependenciesPageOptions,
  toDependencies,
} from './dependencies.ts'
import type { FoundJob, FoundPage, JobHistory } from './job.ts'
import {
  checkLimit,
  type JobListOptions,
  type JobPage,
  type RequeueOutcome,
  type SearchOptions,
  type StateListOptions,
  UnitJobs,
} from './unit-jobs.ts'
import type { QueueSource } from '../source/source.ts'
import { countTags, type TagCount } from './tags.ts'

const PAGE_BYTES = 4 * 1024 * 1024
const ignore = (): void => undefined

type ListName = Parameters<UnitJobs['list']>[0]

interface JobPlace {
  readonly partition: number
  /** The id of the job within the partition. */
  readonly own: string
}

export class Jobs {
  readonly #sources: readonly QueueSource[]
  readonly #parts: readonly UnitJobs[]
  /** Set for a queue without partitions. */
  readonly #plain: UnitJobs | null
  readonly #check: () => Promise<void>

  /** `check` verifies the number of partitions. */
  constructor(sources: readonly QueueSource[], check: () => Promise<void>) {
    this.#sources = sources
    this.#parts = sources.map((source) => new UnitJobs(source))
    this.#plain = sources[0]?.partition === null ? (this.#parts[0] ?? null) : null
    this.#check = check
  }

  /** The job with this id, its own or the one that the queue assigned; null when it does not exist (any more). */
  async get(id: string): Promise<FoundJob | null> {
    const [job = null] = await this.getMany([id])
    return job
  }

  /** The jobs with these ids, 1 to 1000; ids that are not known are left out. Throws InvalidArgumentError. */
  async getMany(ids: readonly string[]): Promise<FoundJob[]> {
    const found = await this.getEach(ids)
    return found.filter((job) => job !== null)
  }

  /** As `getMany`, but with null for each id that is not known. */
  getEach(ids: readonly string[]): Promise<(FoundJob | null)[]> {
    return this.#ofEach(ids, (jobs, own) => jobs.getEach(own), null)
  }

  /**
   * As `getMany`, but stops once the found jobs have 4 MiB together. `left` are the ids that were not looked up: any of
   * them, but never all. Throws InvalidArgumentError.
   */
  async getPage(ids: readonly string[]): Promise<FoundPage> {
    let [before, room] = [Promise.resolve(), PAGE_BYTES]
    const findSome = async (jobs: UnitJobs, own: string[]): Promise<(FoundJob | 'left' | null)[]> => {
      const { jobs: some, bytes } = room > 0 ? await jobs.findSome(own) : { jobs: [], bytes: 0 }
      room -= bytes
      return own.map((_, at) => (at < some.length ? (some[at] ?? null) : 'left'))
    }
    const inTurn = (jobs: UnitJobs, own: string[]): ReturnType<typeof findSome> => {
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

  /** The history of the job since it was enqueued; null when the job does not exist (any more). */
  history(id: string): Promise<JobHistory | null> {
    return this.#ofOne(id, (jobs, own) => jobs.history(own), null)
  }

  /**
   * Resolves when the job has ended in any process: `done` with its result, `dead` with its last failure, or
   * `cancelled`. Resolves to null when it has not ended after `wait`. A job that ended before the call is found if it
   * has a `resultTtl`, else it is `absent`. In a partitioned queue a job with an id of its own must exist when the
   * call begins: otherwise the call does not wait, and only reports how the job ended. Throws the signal's reason and
   * InvalidArgumentError.
   */
  async waitForResult(id: string, options: Waiting = {}): Promise<JobEnd | null> {
    if (this.#plain !== null) return this.#plain.waitForResult(id, options)
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

  /** Adds a line to the log of a job in any state. Resolves to false when the job does not exist (any more). */
  log(id: string, line: string): Promise<boolean> {
    return this.#ofOne(id, (jobs, own) => jobs.log(own, line), false)
  }

  /**
   * A page of the jobs in one state, by their order or time, one partition after the other. `prioritized` are ready
   * jobs with a priority, `grouped` those of groups. Jobs that come and go while you read shift the pages. The pages
   * of dead jobs of one `kind` do not shift: a job that stays is on exactly one of them. Pass `next` as `after` to
   * get the next page. Throws InvalidArgumentError.
   */
  async list(state: ListName, options: StateListOptions = {}): Promise<JobPage> {
    return this.#page(options, (jobs, own) => jobs.list(state, own))
  }

  /**
   * Jobs with a name, a tag or a state. A tag is an index: its jobs come oldest first in each partition. Without a
   * tag the call scans all jobs in no order; a job that stays is found, perhaps on two pages. A page can be empty
   * before the end. Throws InvalidArgumentError.
   */
  async search(options: SearchOptions = {}): Promise<JobPage> {
    return this.#page(options, (jobs, own) => jobs.search(own))
  }

  /** The most common tags and their numbers of jobs; at most `limit`, default 50. Reads all tags. */
  async tags(options: { limit?: number } = {}): Promise<TagCount[]> {
    checkOptions('options', options, ['limit'])
    const checked = checkLimit(options.limit)
    await this.#check()
    return countTags(this.#sources, checked)
  }

  /**
   * Adds tags to a job, after those that it has. Resolves to all its tags, or to null when the job does not exist
   * (any more). Throws InvalidArgumentError, also when the job would have more than 20 tags.
   */
  tag(id: string, tags: readonly string[]): Promise<string[] | null> {
    return this.#ofOne(id, (jobs, own) => jobs.tag(own, tags), null)
  }

  /**
   * Removes tags from a job. Resolves to the tags that are left, or to null when the job does not exist (any more).
   * Throws InvalidArgumentError.
   */
  untag(id: string, tags: readonly string[]): Promise<string[] | null> {
    return this.#ofOne(id, (jobs, own) => jobs.untag(own, tags), null)
  }

  /**
   * Tracks a job: it and its events have `isTracked`. False when it does not exist (any more). Throws
   * InvalidArgumentError.
   */
  track(id: string): Promise<boolean> {
    return this.#ofOne(id, (jobs, own) => jobs.track(own), false)
  }

  /** Stops tracking a job. Resolves to false when it does not exist (any more). Throws InvalidArgumentError. */
  untrack(id: string): Promise<boolean> {
    return this.#ofOne(id, (jobs, own) => jobs.untrack(own), false)
  }

  /** The tracked jobs, one partition after the other, the oldest of each first. */
  async tracked(options: JobListOptions = {}): Promise<JobPage> {
    return this.#page(options, (jobs, own) => jobs.tracked(own))
  }

  /**
   * Cancels jobs. `cancelled`: the job is removed. `stopping`: an attempt is running, and its worker will be notified.
   * `absent`: the job does not exist. Throws InvalidArgumentError.
   */
  cancel(ids: readonly string[]): Promise<('cancelled' | 'stopping' | 'absent')[]> {
    return this.#ofEach(ids, (jobs, own) => jobs.cancel(own), 'absent')
  }

  /** The jobs that a job waits or waited for; empty when there are none, or the job does not exist (any more). */
  async dependencies(id: string): Promise<Dependency[]> {
    const place = await this.#placeOf(id)
    return place === null ? [] : this.#part(place).dependencies(place.own)
  }

  /** As `dependencies`, but a page ends once the results have 4 MiB together. Throws InvalidArgumentError. */
  async dependenciesPage(id: string, options: DependenciesPageOptions = {}): Promise<DependenciesPage> {
    const place = await this.#placeOf(id)
    return place === null
      ? { dependencies: [], next: null }
      : this.#part(place).dependenciesPage(place.own, options)
  }

  /**
   * Makes a blocked job wait for more jobs of this queue. They must be older than the job, so that jobs never wait in
   * a circle, and in a partitioned queue in the same partition. Resolves to `changed`. Nothing changes when it
   * resolves to the state of a job that is not blocked, to `absent`, or to `newer` (a dependency is newer). Throws
   * InvalidArgumentError.
   */
  async addDependencies(id: string, dependencies: readonly string[]): Promise<DependenciesChanged> {
    if (this.#plain !== null) return this.#plain.addDependencies(id, dependencies)
    const named = idsOfQueue(toDependencies(dependencies), this.#queue)
    if (named.length < new Set(dependencies).size)
      throw new InvalidArgumentError('dependencies', 'must be ids of this queue')
    refuseOthers([id, ...named].map((each) => placeId(each, this.#parts.length, 'dependencies')))
    const place = await this.#placeOf(id)
    if (place === null) return 'absent'
    const places =
      named.length === 0 ? [] : await Promise.all(named.map((dependency) => this.#placeOf(dependency)))
    refuseOthers([place, ...places])
    const own = places.flatMap((each) => each?.own ?? [])
    return this.#part(place).addDependencies(place.own, own)
  }

  /** Removes dependencies of a blocked job; without any the job becomes ready. Resolves as `addDependencies` does. */
  async removeDependencies(id: string, dependencies: readonly DependencyId[]): Promise<DependenciesChanged> {
    if (this.#plain !== null) return this.#plain.removeDependencies(id, dependencies)
    const named = everyName(toDependencies(dependencies), this.#queue)
    const place = await this.#placeOf(id)
    if (place === null) return 'absent'
    const source = this.#sources[place.partition] as QueueSource
    return changeDependenciesOf(source, place.own, asCalledAt(source.address, named), false)
  }

  /**
   * Makes scheduled, blocked, dead and done jobs ready now; their attempts are counted from the start again.
   * Resolves, for each id in order, to `requeued`, to the state of a job that stays as it is, to `absent`, or to
   * `duplicate` when another job has taken its unique key. Throws InvalidArgumentError.
   */
  requeue(ids: readonly string[]): Promise<RequeueOutcome[]> {
    return this.#ofEach(ids, (jobs, own) => jobs.requeue(own), 'absent')
  }

  /**
   * Changes the priority of jobs that are not claimed. Within a priority jobs keep the order of their age. Resolves,
   * for each id in order, to `changed`, `claimed` or `absent`. Throws InvalidArgumentError.
   */
  reprioritize(ids: readonly string[], priority: number): Promise<('changed' | 'claimed' | 'absent')[]> {
    return this.#ofEach(ids, (jobs, own) => jobs.reprioritize(own, priority), 'absent')
  }

  /** @internal The partitions of jobs that have ids of their own; null for a job that is in none. */
  partitionsOf(ids: readonly string[]): Promise<(number | null)[]> {
    const get = async (jobs: UnitJobs, own: string[]): Promise<(number | null)[]> => {
      const found = await jobs.getEach(own)
      return found.map((job) => (job === null ? null : this.#parts.indexOf(jobs)))
    }
    return this.#ofEach(ids, get, null)
  }

  /**
   * Null when no partition has the job. An id that the queue assigned names the partition even after the job has
   * ended.
   */
  async #placeOf(id: string): Promise<JobPlace | null> {
    if (this.#plain !== null) return { partition: 0, own: checkText('id', id, 512) }
    const given = placeId(checkText('id', id, 512), this.#parts.length, 'id')
    if (given !== null) {
      await this.#check()
      return { partition: given.partition, own: given.number }
    }
    const [partition = null] = await this.partitionsOf([id])
    return partition === null ? null : { partition, own: id }
  }

  #part({ partition }: JobPlace): UnitJobs {
    return this.#parts[partition] as UnitJobs
  }

  get #queue(): QueueSource {
    return this.#sources[0] as QueueSource
  }

  #ofEach<Answer>(ids: readonly string[], call: Ask<UnitJobs, Answer>, absent: Answer): Promise<Answer[]> {
    if (this.#plain !== null) return call(this.#plain, ids as string[])
    return askEach(this.#parts, this.#check, ids, call, absent)
  }

  /** The answer of one call about the job; `absent` when no partition has the job. */
  async #ofOne<Answer>(
    id: string,
    call: (jobs: UnitJobs, own: string) => Promise<Answer>,
    absent: Answer,
  ): Promise<Answer> {
    if (this.#plain !== null) return call(this.#plain, id)
    const asked = await this.#ofEach([id], (jobs, [own]) => alone(call(jobs, own as string)), absent)
    return asked[0] ?? absent
  }

  #page<Options extends { after?: string }>(
    options: Options,
    look: (jobs: UnitJobs, own: Options) => Promise<JobPage>,
  ): Promise<JobPage> {
    if (this.#plain !== null) return look(this.#plain, options)
    const { after, ...others } = options
    const lookFrom = (jobs: UnitJobs, own: { after?: string }): Promise<JobPage> =>
      look(jobs, { ...others, ...own } as Options)
    return pageThrough(this.#parts, this.#check, after, lookFrom, ({ jobs }) => jobs.length === 0)
  }
}

/** `places`: of a job and its dependencies, null if not known. Throws InvalidArgumentError if they span partitions. */
function refuseOthers(places: readonly ({ readonly partition: number } | null)[]): void {
  if (new Set(places.flatMap((place) => place?.partition ?? [])).size <= 1) return
  throw new InvalidArgumentError('dependencies', 'must be in the partition of the job: give them its group')
}

async function alone<Answer>(answering: Promise<Answer>): Promise<Answer[]> {
  return [await answering]
}
