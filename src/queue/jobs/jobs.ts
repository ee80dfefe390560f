// Single jobs of a queue: what is known of them, and what can be done to them. Of a queue in partitions the ids that it gives tell the
// partition; a job's own id is looked for where it is when the job has no group, and then everywhere. One without is asked itself.

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
  /** What the partition calls the job. */
  readonly own: string
}

export class Jobs {
  readonly #sources: readonly QueueSource[]
  readonly #parts: readonly UnitJobs[]
  /** Of a queue without partitions. */
  readonly #plain: UnitJobs | null
  readonly #check: () => Promise<void>

  /** `check`: that the queue has so many partitions. */
  constructor(sources: readonly QueueSource[], check: () => Promise<void>) {
    this.#sources = sources
    this.#parts = sources.map((source) => new UnitJobs(source))
    this.#plain = sources[0]?.partition === null ? (this.#parts[0] ?? null) : null
    this.#check = check
  }

  /** The job with this id, its own or the one the queue gave it; null when it is not known (any more). */
  async get(id: string): Promise<FoundJob | null> {
    const [job = null] = await this.getMany([id])
    return job
  }

  /** Those of up to 1,000 jobs that are known; others are left out. Throws InvalidArgumentError. */
  async getMany(ids: readonly string[]): Promise<FoundJob[]> {
    const found = await this.getEach(ids)
    return found.filter((job) => job !== null)
  }

  /** As `getMany`, with null in the places of those that are not known. */
  getEach(ids: readonly string[]): Promise<(FoundJob | null)[]> {
    return this.#ofEach(ids, (jobs, own) => jobs.getEach(own), null)
  }

  /**
   * As `getMany`, as far as what is found has 4 MiB together: `left` are the ids that were not looked at, never all. Partitions are
   * asked one after the other, so that they may be any. Throws InvalidArgumentError.
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

  /** What happened to the job, from the time it was enqueued until now; null when it is not known (any more). */
  history(id: string): Promise<JobHistory | null> {
    return this.#ofOne(id, (jobs, own) => jobs.history(own), null)
  }

  /**
   * Resolves when the job has ended, wherever it is done: `done` with its result, `dead` with its last failure, or
   * `cancelled`; to null when it had not after `wait`. One that ended before is found where it has `resultTtl`, and else
   * `absent`; in partitions a job's own id is one that is known when the call begins: else it is only asked how it ended. Throws
   * the signal's reason, InvalidArgumentError.
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

  /** Adds a line to the log of a job, whatever its state. Resolves to false when it is not known (any more). */
  log(id: string, line: string): Promise<boolean> {
    return this.#ofOne(id, (jobs, own) => jobs.log(own, line), false)
  }

  /**
   * Jobs of one state, by their order or time, one partition after the other. `prioritized` are ready jobs with a priority, `grouped`
   * those of groups. Jobs that come and go while you read shift the pages, but for those of dead jobs of one `kind`: one that is there
   * all the time is on one of them. Pass `next` on as `after`. Throws InvalidArgumentError.
   */
  async list(state: ListName, options: StateListOptions = {}): Promise<JobPage> {
    return this.#page(options, (jobs, own) => jobs.list(state, own))
  }

  /**
   * Jobs of a name, a tag or a state. Those with a tag are found by it, the oldest of each partition first; else all jobs are looked
   * through, in no order, and a job that is there all the time is found, perhaps on two pages. A page may be empty before the end.
   */
  async search(options: SearchOptions = {}): Promise<JobPage> {
    return this.#page(options, (jobs, own) => jobs.search(own))
  }

  /** The most common tags, with how many jobs have each; `limit` of them, by default 50. All tags are looked at. */
  async tags(options: { limit?: number } = {}): Promise<TagCount[]> {
    checkOptions('options', options, ['limit'])
    const checked = checkLimit(options.limit)
    await this.#check()
    return countTags(this.#sources, checked)
  }

  /**
   * Gives a job more tags, behind those that it has. Resolves to all that it has then, null when the job is not known (any
   * more). Throws InvalidArgumentError, also where there would be more than twenty.
   */
  tag(id: string, tags: readonly string[]): Promise<string[] | null> {
    return this.#ofOne(id, (jobs, own) => jobs.tag(own, tags), null)
  }

  /**
   * Takes tags from a job. Resolves to all that it has then, null when the job is not known (any more). Throws
   * InvalidArgumentError.
   */
  untag(id: string, tags: readonly string[]): Promise<string[] | null> {
    return this.#ofOne(id, (jobs, own) => jobs.untag(own, tags), null)
  }

  /** Follows a job: `isTracked` says so, and its events. Resolves to false when it is not known (any more). Throws InvalidArgumentError. */
  track(id: string): Promise<boolean> {
    return this.#ofOne(id, (jobs, own) => jobs.track(own), false)
  }

  /** Follows a job no more. Resolves to false when it is not known (any more). Throws InvalidArgumentError. */
  untrack(id: string): Promise<boolean> {
    return this.#ofOne(id, (jobs, own) => jobs.untrack(own), false)
  }

  /** The jobs that are followed, one partition after the other, the oldest of each first. */
  async tracked(options: JobListOptions = {}): Promise<JobPage> {
    return this.#page(options, (jobs, own) => jobs.tracked(own))
  }

  /**
   * Cancels jobs: `cancelled` are gone; `stopping` are at work, and their workers will be told; `absent` are not known.
   */
  cancel(ids: readonly string[]): Promise<('cancelled' | 'stopping' | 'absent')[]> {
    return this.#ofEach(ids, (jobs, own) => jobs.cancel(own), 'absent')
  }

  /** The jobs that a job waits for, or waited for; none where it has none, or is not known (any more). */
  async dependencies(id: string): Promise<Dependency[]> {
    const place = await this.#placeOf(id)
    return place === null ? [] : this.#part(place).dependencies(place.own)
  }

  /** As `dependencies`, as far as their results have 4 MiB together. Throws InvalidArgumentError. */
  async dependenciesPage(id: string, options: DependenciesPageOptions = {}): Promise<DependenciesPage> {
    const place = await this.#placeOf(id)
    return place === null
      ? { dependencies: [], next: null }
      : this.#part(place).dependenciesPage(place.own, options)
  }

  /**
   * Lets a blocked job wait for more jobs of this queue, older than itself, so that jobs never wait in a circle; in partitions for those
   * in its own: elsewhere the older one is not known. Resolves to `changed`, or to the state of a job that is not blocked, `absent`, or
   * `newer`: then nothing is changed. Throws InvalidArgumentError.
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

  /** Lets a blocked job wait for fewer jobs; without any it becomes ready. As `addDependencies`. */
  async removeDependencies(id: string, dependencies: readonly DependencyId[]): Promise<DependenciesChanged> {
    if (this.#plain !== null) return this.#plain.removeDependencies(id, dependencies)
    const named = everyName(toDependencies(dependencies), this.#queue)
    const place = await this.#placeOf(id)
    if (place === null) return 'absent'
    const source = this.#sources[place.partition] as QueueSource
    return changeDependenciesOf(source, place.own, asCalledAt(source.address, named), false)
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
   * Gives jobs that are not claimed another priority. Among those of one priority they keep their age. Resolves, in the order
   * of the ids, to `changed`, `claimed` or `absent`. Throws InvalidArgumentError.
   */
  reprioritize(ids: readonly string[], priority: number): Promise<('changed' | 'claimed' | 'absent')[]> {
    return this.#ofEach(ids, (jobs, own) => jobs.reprioritize(own, priority), 'absent')
  }

  /** @internal In which partitions they are that have ids of their own; null: in none. */
  partitionsOf(ids: readonly string[]): Promise<(number | null)[]> {
    const get = async (jobs: UnitJobs, own: string[]): Promise<(number | null)[]> => {
      const found = await jobs.getEach(own)
      return found.map((job) => (job === null ? null : this.#parts.indexOf(jobs)))
    }
    return this.#ofEach(ids, get, null)
  }

  /** Null where no partition knows it. The ids that the queue gives tell the partition, whatever became of the job. */
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

  #ofEach<Told>(ids: readonly string[], call: Ask<UnitJobs, Told>, absent: Told): Promise<Told[]> {
    if (this.#plain !== null) return call(this.#plain, ids as string[])
    return askEach(this.#parts, this.#check, ids, call, absent)
  }

  /** What one call says of the job, `absent` where no partition knows it. */
  async #ofOne<Told>(
    id: string,
    call: (jobs: UnitJobs, own: string) => Promise<Told>,
    absent: Told,
  ): Promise<Told> {
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

/** A job and its dependencies, null where it is not known; throws InvalidArgumentError where they are not in one partition. */
function refuseOthers(places: readonly ({ readonly partition: number } | null)[]): void {
  if (new Set(places.flatMap((place) => place?.partition ?? [])).size <= 1) return
  throw new InvalidArgumentError('dependencies', 'must be in the partition of the job: give them its group')
}

async function alone<Told>(telling: Promise<Told>): Promise<Told[]> {
  return [await telling]
}
