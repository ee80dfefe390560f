// Reads and changes single jobs of one queue or one partition.

import { cancel, list, listDead, reprioritize, requeue, search } from '../../generated/queue.ts'
import { checkInteger, checkOneOf, checkOptions, checkText } from '../../runtime/values/arguments.ts'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { learnNotifyChannel } from '../../runtime/waiting/notify-channel.ts'
import type { Waiting } from '../../runtime/waiting/wait.ts'
import { type JobEnd, waitForEnd } from './job-end.ts'
import {
  changeDependenciesOf,
  type Dependency,
  type DependencyId,
  type DependenciesChanged,
  dependenciesOf,
  dependenciesPage,
  type DependenciesPage,
  type DependenciesPageOptions,
  toDependencies,
} from './dependencies.ts'
import {
  findSome,
  type FoundJob,
  type FoundSome,
  type Job,
  type JobHistory,
  type JobState,
  readHistory,
  toJob,
} from './job.ts'
import type { QueueSource } from '../source/source.ts'
import { logLine } from './attempt.ts'
import { changeTags, searchTagged, track } from './tags.ts'

export interface JobPage {
  readonly jobs: Job[]
  /** Where the next page begins; null at the end. */
  readonly next: string | null
}

export interface JobListOptions {
  /** `next` of the page before. */
  after?: string
  /** The most jobs that one page looks at, 1 to 1000; default 50. */
  limit?: number
}

export interface StateListOptions extends JobListOptions {
  /** For `dead` only: the jobs of this kind of failure, the oldest first. */
  kind?: string
}

export interface SearchOptions extends JobListOptions {
  /** Only jobs with this name; default: any. */
  name?: string
  /** Only jobs with this tag; default: any. */
  tag?: string
  /** Only jobs in this state; default: any. */
  state?: JobState
}

/**
 * The result of requeueing a job: its state if it stays as it is; `duplicate` if another job has taken its unique
 * key.
 */
export type RequeueOutcome = 'requeued' | JobState | 'absent' | 'duplicate'

const LISTS = ['ready', 'prioritized', 'grouped', 'scheduled', 'blocked', 'claimed', 'dead', 'done'] as const
const STATES = ['ready', 'scheduled', 'blocked', 'claimed', 'stopping', 'dead', 'done'] as const
const MAX_IDS = 1000

/** `Jobs` for one queue or one partition. */
export class UnitJobs {
  readonly #source: QueueSource

  constructor(source: QueueSource) {
    this.#source = source
  }

  async getEach(ids: readonly string[]): Promise<(FoundJob | null)[]> {
    const found: (FoundJob | null)[] = []
    // An answer holds only some of the jobs when they are large.
    for (checkIds(ids); found.length < ids.length; ) {
      found.push(...(await findSome(this.#source, ids.slice(found.length))).jobs)
    }
    return found
  }

  async findSome(ids: readonly string[]): Promise<FoundSome> {
    return findSome(this.#source, checkIds(ids))
  }

  history(id: string): Promise<JobHistory | null> {
    return readHistory(this.#source, id)
  }

  async waitForResult(id: string, options: Waiting = {}): Promise<JobEnd | null> {
    checkOptions('options', options, ['wait', 'signal'])
    return waitForEnd(this.#source, id, options)
  }

  log(id: string, line: string): Promise<boolean> {
    return logLine(this.#source, id, line)
  }

  async list(state: (typeof LISTS)[number], options: StateListOptions = {}): Promise<JobPage> {
    checkOneOf('state', state, LISTS)
    checkOptions('options', options, ['after', 'limit', 'kind'])
    const { unit, codec } = this.#source
    const after = options.after === undefined ? 0 : Number(checkCursor(options.after))
    if (options.kind !== undefined) return this.#listFailed(state, options.kind, after, options.limit)
    const answer = await unit.run(list, { codec: codec.name, state, after, limit: checkLimit(options.limit) })
    return {
      jobs: answer.jobs.map((job) => toJob(job, this.#source)),
      next: answer.next < 0 ? null : String(answer.next),
    }
  }

  async #listFailed(state: string, kind: string, after: number, limit: number | undefined): Promise<JobPage> {
    if (state !== 'dead') throw new InvalidArgumentError('kind', 'must only be given for dead jobs')
    const { unit, codec } = this.#source
    const terms = { kind: checkText('kind', kind, 200), after, limit: checkLimit(limit) }
    const { jobs, next } = await unit.run(listDead, { codec: codec.name, ...terms })
    return { jobs: jobs.map((job) => toJob(job, this.#source)), next: next < 0 ? null : String(next) }
  }

  async search(options: SearchOptions = {}): Promise<JobPage> {
    checkOptions('options', options, ['after', 'limit', 'name', 'tag', 'state'])
    const { after = '0', limit, name = '', tag, state = '' } = options
    if (state !== '') checkOneOf('state', state, STATES)
    const place = tag === undefined ? checkPlace(after) : checkCursor(after)
    const terms = { after: place, limit: checkLimit(limit), name, state }
    if (tag !== undefined) return searchTagged(this.#source, checkText('tag', tag, 100), terms)
    const { unit, codec } = this.#source
    const answer = await unit.run(search, { codec: codec.name, ...terms, looked: terms.limit })
    return {
      jobs: answer.jobs.map((job) => toJob(job, this.#source)),
      next: answer.next === '0' ? null : answer.next,
    }
  }

  async tag(id: string, tags: readonly string[]): Promise<string[] | null> {
    return changeTags(this.#source, id, tags, true)
  }

  async untag(id: string, tags: readonly string[]): Promise<string[] | null> {
    return changeTags(this.#source, id, tags, false)
  }

  async track(id: string): Promise<boolean> {
    return track(this.#source, id, true)
  }

  async untrack(id: string): Promise<boolean> {
    return track(this.#source, id, false)
  }

  async tracked(options: JobListOptions = {}): Promise<JobPage> {
    checkOptions('options', options, ['after', 'limit'])
    const { after = '0', limit } = options
    const terms = { after: checkCursor(after), limit: checkLimit(limit), name: '', state: '' }
    return searchTagged(this.#source, '', terms)
  }

  async cancel(ids: readonly string[]): Promise<('cancelled' | 'stopping' | 'absent')[]> {
    const { unit, chores } = this.#source
    const notifyChannel = await learnNotifyChannel(unit)
    return inSteps(checkIds(ids), async (wanted) => {
      const answer = await unit.run(cancel, { ...notifyChannel, wanted })
      void chores.see(answer.chores)
      return answer.outcomes as ('cancelled' | 'stopping' | 'absent')[]
    })
  }

  dependencies(id: string): Promise<Dependency[]> {
    return dependenciesOf(this.#source, checkText('id', id, 512))
  }

  dependenciesPage(id: string, options: DependenciesPageOptions = {}): Promise<DependenciesPage> {
    checkOptions('options', options, ['after'])
    return dependenciesPage(this.#source, checkText('id', id, 512), options)
  }

  addDependencies(id: string, dependencies: readonly string[]): Promise<DependenciesChanged> {
    return this.#changeDependencies(id, dependencies, true)
  }

  removeDependencies(id: string, dependencies: readonly DependencyId[]): Promise<DependenciesChanged> {
    return this.#changeDependencies(id, dependencies, false)
  }

  async #changeDependencies(
    id: string,
    dependencies: readonly DependencyId[],
    adds: boolean,
  ): Promise<DependenciesChanged> {
    return changeDependenciesOf(this.#source, checkText('id', id, 512), toDependencies(dependencies), adds)
  }

  async requeue(ids: readonly string[]): Promise<RequeueOutcome[]> {
    const notifyChannel = await learnNotifyChannel(this.#source.unit)
    return inSteps(checkIds(ids), async (wanted) => {
      const { outcomes } = await this.#source.unit.run(requeue, { ...notifyChannel, wanted })
      return outcomes as RequeueOutcome[]
    })
  }

  async reprioritize(
    ids: readonly string[],
    priority: number,
  ): Promise<('changed' | 'claimed' | 'absent')[]> {
    checkInteger('priority', priority, -1_000_000, 1_000_000)
    return inSteps(checkIds(ids), async (wanted) => {
      const { outcomes } = await this.#source.unit.run(reprioritize, { priority, wanted })
      return outcomes as ('changed' | 'claimed' | 'absent')[]
    })
  }
}

/**
 * Repeats `step` for the rest: a call handles at least one job, and fewer of those that are large or have many
 * dependencies.
 */
async function inSteps<Outcome>(
  ids: readonly string[],
  step: (wanted: readonly string[]) => Promise<readonly Outcome[]>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  while (outcomes.length < ids.length) outcomes.push(...(await step(ids.slice(outcomes.length))))
  return outcomes
}

function checkIds(ids: unknown): string[] {
  if (!Array.isArray(ids) || ids.length === 0 || ids.length > MAX_IDS) {
    throw new InvalidArgumentError('ids', `must be a list of 1 to ${MAX_IDS} ids`)
  }
  return ids.map((id) => checkText('ids', id, 512))
}

export function checkLimit(limit: number | undefined): number {
  return limit === undefined ? 50 : checkInteger('limit', limit, 1, 1000)
}

/** The cursor of a scan, followed by the id of the Redis process that it belongs to. */
function checkPlace(after: unknown): string {
  const [, cursor, process = ''] = /^(\d+)(\.[0-9a-f]{8})?$/.exec(String(after)) ?? []
  return checkCursor(cursor) + process
}

function checkCursor(after: unknown): string {
  // A cursor of Redis has 64 bits.
  if (typeof after !== 'string' || !/^\d{1,20}$/.test(after) || BigInt(after) >= 1n << 64n) {
    throw new InvalidArgumentError('after', 'must be the next of a page')
  }
  return after
}
