// Single jobs of one queue, or of one partition: what is known of them, and what can be done to them.

import {
  cancel,
  failures,
  list,
  listFailed,
  reprioritize,
  requeue,
  requeueFailed,
  search,
} from '../../generated/queue.ts'
import { checkInteger, checkOneOf, checkOptions, checkText } from '../../runtime/values/arguments.ts'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { learnTold } from '../../runtime/waiting/told.ts'
import type { Waiting } from '../../runtime/waiting/wait.ts'
import { type JobEnd, waitForEnd } from './job-end.ts'
import {
  changeParentsOf,
  type Parent,
  type ParentId,
  type ParentsChanged,
  parentsOf,
  parentsPage,
  type ParentsPage,
  type ParentsPageOptions,
  toParents,
} from './parents.ts'
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
import { type QueueSource, toId } from '../source/source.ts'
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
  /** How many to look at, at most; default 50. */
  limit?: number
}

export interface StateListOptions extends JobListOptions {
  /** Of `dead` jobs: only those that are dead of this kind of failure, the oldest first. */
  kind?: string
}

export interface SearchOptions extends JobListOptions {
  name?: string
  tag?: string
  state?: JobState
}

/** Jobs that are dead of the same kind of failure. */
export interface Failures {
  readonly kind: string
  readonly count: number
  readonly firstAtMs: number
  readonly lastAtMs: number
  /** The id that the queue gave to the newest of them, and its message. */
  readonly sample: { readonly id: string; readonly message: string }
}

/** What became of a job that was to be requeued: its state, where it stays as it is. `duplicate`: another job has its unique key. */
export type RequeueOutcome = 'requeued' | JobState | 'absent' | 'duplicate'

const LISTS = ['ready', 'prioritized', 'grouped', 'scheduled', 'blocked', 'claimed', 'dead', 'done'] as const
const STATES = ['ready', 'scheduled', 'blocked', 'claimed', 'stopping', 'dead', 'done'] as const
const MAX_IDS = 1000
/** Few, for others wait meanwhile; more at once are hardly done sooner. */
const STEP = 25

/** What `Jobs` does, with those of one queue, or of one partition. */
export class UnitJobs {
  readonly #source: QueueSource

  constructor(source: QueueSource) {
    this.#source = source
  }

  async findEach(ids: readonly string[]): Promise<(FoundJob | null)[]> {
    const found: (FoundJob | null)[] = []
    // Of large jobs an answer tells some.
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
    const after = options.after === undefined ? 0 : Number(checkMarker(options.after))
    if (options.kind !== undefined) return this.#listFailed(state, options.kind, after, options.limit)
    const answer = await unit.run(list, { codec: codec.name, state, after, limit: checkLimit(options.limit) })
    return {
      jobs: answer.jobs.map((job) => toJob(job, this.#source)),
      next: answer.next < 0 ? null : String(answer.next),
    }
  }

  async #listFailed(state: string, kind: string, after: number, limit: number | undefined): Promise<JobPage> {
    if (state !== 'dead') throw new InvalidArgumentError('kind', 'is one of dead jobs only')
    const { unit, codec } = this.#source
    const terms = { kind: checkText('kind', kind, 200), after, limit: checkLimit(limit) }
    const { jobs, next } = await unit.run(listFailed, { codec: codec.name, ...terms })
    return { jobs: jobs.map((job) => toJob(job, this.#source)), next: next < 0 ? null : String(next) }
  }

  async search(options: SearchOptions = {}): Promise<JobPage> {
    checkOptions('options', options, ['after', 'limit', 'name', 'tag', 'state'])
    const { after = '0', limit, name = '', tag, state = '' } = options
    if (state !== '') checkOneOf('state', state, STATES)
    const place = tag === undefined ? checkPlace(after) : checkMarker(after)
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
    const terms = { after: checkMarker(after), limit: checkLimit(limit), name: '', state: '' }
    return searchTagged(this.#source, '', terms)
  }

  async cancel(ids: readonly string[]): Promise<('cancelled' | 'stopping' | 'absent')[]> {
    const { unit, chores } = this.#source
    const told = await learnTold(unit)
    return inSteps(checkIds(ids), async (wanted) => {
      const answer = await unit.run(cancel, { ...told, wanted })
      void chores.see(answer.chores)
      return answer.outcomes as ('cancelled' | 'stopping' | 'absent')[]
    })
  }

  parents(id: string): Promise<Parent[]> {
    return parentsOf(this.#source, checkText('id', id, 512))
  }

  parentsPage(id: string, options: ParentsPageOptions = {}): Promise<ParentsPage> {
    checkOptions('options', options, ['after'])
    return parentsPage(this.#source, checkText('id', id, 512), options)
  }

  addParents(id: string, parents: readonly string[]): Promise<ParentsChanged> {
    return this.#changeParents(id, parents, true)
  }

  removeParents(id: string, parents: readonly ParentId[]): Promise<ParentsChanged> {
    return this.#changeParents(id, parents, false)
  }

  async #changeParents(id: string, parents: readonly ParentId[], adds: boolean): Promise<ParentsChanged> {
    return changeParentsOf(this.#source, checkText('id', id, 512), toParents(parents), adds)
  }

  async requeue(ids: readonly string[]): Promise<RequeueOutcome[]> {
    const told = await learnTold(this.#source.unit)
    return inSteps(checkIds(ids), async (wanted) => {
      const { outcomes } = await this.#source.unit.run(requeue, { ...told, wanted })
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

  async failures(): Promise<Failures[]> {
    const { kinds } = await this.#source.unit.run(failures, {})
    return kinds.map(({ kind, count, firstMs, lastMs, number, message }) => ({
      kind,
      count,
      firstAtMs: firstMs,
      lastAtMs: lastMs,
      sample: { id: toId(this.#source, number), message },
    }))
  }

  requeueFailed(kind: string): Promise<number> {
    return this.#eachFailed(kind, false)
  }

  dropFailed(kind: string): Promise<number> {
    return this.#eachFailed(kind, true)
  }

  async #eachFailed(kind: string, drops: boolean): Promise<number> {
    checkText('kind', kind, 200)
    const told = await learnTold(this.#source.unit)
    // Those that die again meanwhile are behind; those of jobs that are newer than the first call may come without end.
    let [total, after, end] = [0, 0, Infinity]
    while (after >= 0 && after <= end) {
      const terms = { kind, limit: STEP, drops, after }
      const { count, chores, next, newest } = await this.#source.unit.run(requeueFailed, {
        ...told,
        ...terms,
      })
      void this.#source.chores.see(chores)
      total += count
      after = next
      end = Math.min(end, newest)
    }
    return total
  }
}

/** A call tells of as many as it has come to, at least of one: jobs with many parents, or large ones, take longer. */
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

/** Of a scan: behind the cursor stands whose it is. */
function checkPlace(after: unknown): string {
  const [, cursor, process = ''] = /^(\d+)(\.[0-9a-f]{8})?$/.exec(String(after)) ?? []
  return checkMarker(cursor) + process
}

function checkMarker(after: unknown): string {
  // A cursor of Redis has 64 bits.
  if (typeof after !== 'string' || !/^\d{1,20}$/.test(after) || BigInt(after) >= 1n << 64n) {
    throw new InvalidArgumentError('after', 'must be the next of a page')
  }
  return after
}
