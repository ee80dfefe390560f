// Recurring jobs: kept by the server, which spawns a job at each of their times.
//
// Each lives in one partition of its queue: that of the group of its jobs, without one that of its id. Set for
// another group it moves, and how often it has moved is kept with it. Should several move it at once it may be in several
// partitions for a moment: each of them looks at all partitions once more, and where it has moved less often it is removed. Of two
// that have moved equally often the one in the later partition stays.

import { types } from 'node:util'
import { type RecurrencesAnswer, recur, recurrences, unrecur } from '../../generated/queue.ts'
import { inUse } from '../../runtime/partitions/agreement.ts'
import { checkInteger, checkOptions, checkText } from '../../runtime/values/arguments.ts'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { learnTold } from '../../runtime/waiting/notify-channel.ts'
import { encodeJob, toSpec } from '../jobs/enqueuer.ts'
import {
  checkJobName,
  type JobOptions,
  type SpecOptions,
  toSpecOptions,
  type Unique,
} from '../jobs/job-options.ts'
import { type Recurrence, type RecurrenceRule, refillOne, toRecurrence } from './recurrence.ts'
import { pageThrough } from '../partitions/partitions.ts'
import { partitionOf } from '../../runtime/partitions/partition-hash.ts'
import type { QueueSource } from '../source/source.ts'
import { PartReader, type UndecodablePart } from '../source/job-parts.ts'

/** Of each job that is spawned. Its id is that of the recurring job, `@`, and the time of its run in milliseconds. */
export interface RecurringJobOptions
  extends Omit<
    JobOptions,
    'id' | 'delay' | 'unique' | 'dependsOn' | 'onDependencyFailure' | 'idempotencyKey' | 'resultTtl'
  > {
  /** While the key is held a run spawns no job: with a key of its own, no two runs are at work at once. */
  unique?: string | Omit<Unique, 'replace'>
}

export interface RecurringBounds {
  /** How many jobs are spawned in all; default: no bound. */
  limit?: number
  /** No run is later: a date, or milliseconds since 1970. Default: no bound. */
  until?: Date | number
}

export type RecurringOptions<Jobs extends object, Name extends keyof Jobs = keyof Jobs> = Recurrence &
  RecurringBounds &
  RecurringJobOptions & { name: Name & string; payload: Jobs[Name] }

export interface RecurringJob {
  readonly id: string
  readonly name: string
  /** Null: `undecodable` has it. */
  readonly payload: unknown
  readonly rule: RecurrenceRule
  /** Null: it has ended, or its next time is not computed yet. */
  readonly nextAtMs: number | null
  /** The run that spawned the last job, and its id; null: none did. */
  readonly lastAtMs: number | null
  readonly lastJobId: string | null
  /** How many jobs it has spawned. */
  readonly runs: number
  readonly limit: number | null
  readonly untilMs: number | null
  readonly priority: number
  readonly maxAttempts: number
  /** 0: no bound. */
  readonly maxRunMs: number
  /** Empty: none. */
  readonly group: string
  readonly unique: string
  readonly tags: readonly string[]
  readonly trace: string
  /** The payload, where the codec could not read it. Empty: it could. */
  readonly undecodable: readonly UndecodablePart[]
}

export interface RecurringPage {
  readonly recurring: RecurringJob[]
  /** Where the next page begins; null at the end. */
  readonly next: string | null
}

const RULE = ['every', 'offset', 'cron', 'timeZone', 'missed'] as const
const OPTIONS = ['priority', 'maxAttempts', 'backoff', 'maxRun', 'group', 'unique', 'tags', 'trace'] as const
const ALL = [...RULE, 'limit', 'until', 'name', 'payload', ...OPTIONS] as const
const MAX_ID_BYTES = 256
const MAX_INSTANT = Date.UTC(9999, 0)

/** The recurring jobs of a queue, each under an id: set, found, listed and removed for all who use it. */
export class Recurring<Jobs extends object = Record<string, unknown>> {
  readonly #parts: readonly UnitRecurring<Jobs>[]
  readonly #isSpread: boolean
  readonly #check: () => Promise<void>

  /** `check`: that the queue has so many partitions. */
  constructor(sources: readonly QueueSource[], check: () => Promise<void>) {
    this.#parts = sources.map((source) => new UnitRecurring<Jobs>(source))
    this.#isSpread = sources[0]?.partition !== null
    this.#check = check
  }

  /**
   * Sets a recurring job, for all who use the queue. The same again changes nothing, so every process may set it when it
   * starts; anything else takes its place from now on. With another group it may change its partition: then it begins anew there.
   * Resolves to its next run; null: there is none any more. Throws InvalidArgumentError.
   */
  async set<Name extends keyof Jobs & string>(
    id: string,
    options: RecurringOptions<Jobs, Name>,
  ): Promise<{ nextAtMs: number | null }> {
    const [first] = this.#parts as [UnitRecurring<Jobs>]
    await first.check(id, options)
    if (!this.#isSpread) return first.place(id, options, 0)
    const { group } = options
    const argument = group === undefined ? 'id' : 'group'
    const home = partitionOf(group ?? id, this.#parts.length, argument)
    await this.#check()
    const known = await Promise.all(this.#parts.map((part) => part.giveWay(id, 1)))
    const moves = Math.max(1, ...known.map((each, at) => (at === home || each === 0 ? each : each + 1)))
    // Before it is set, too: so no run has two jobs.
    if (known.some((each, at) => each > 0 && at !== home)) await this.#leaveTo(home, id, moves)
    const set = await (this.#parts[home] as UnitRecurring<Jobs>).place(id, options, moves)
    const isOutdone = await this.#leaveTo(home, id, moves)
    if (isOutdone) await (this.#parts[home] as UnitRecurring<Jobs>).giveWay(id, moves + 1)
    return set
  }

  /** Removes it from all other partitions. True where another set has moved it on. */
  async #leaveTo(home: number, id: string, moves: number): Promise<boolean> {
    const left = await Promise.all(
      this.#parts.map(async (part, at) => {
        if (at === home) return 0
        return part.giveWay(id, at < home ? moves + 1 : moves)
      }),
    )
    return left.some((each) => each > 0)
  }

  /** No further job is spawned; those that were stay. Resolves to false when there was none with this id. */
  async remove(id: string): Promise<boolean> {
    await this.#check()
    const existed = await Promise.all(this.#parts.map((part) => part.remove(id)))
    return existed.includes(true)
  }

  /** Null when there is none with this id. */
  async get(id: string): Promise<RecurringJob | null> {
    await this.#check()
    const found = await Promise.all(this.#parts.map((part) => part.find(id)))
    return found.find((recurring) => recurring !== null) ?? null
  }

  /**
   * By their next run, one partition after the other; those without one come last. Runs that come while you read shift the pages. A
   * page ends behind the payload with which they reach 4 MiB.
   */
  async list(options: { after?: string; limit?: number } = {}): Promise<RecurringPage> {
    if (!this.#isSpread) return (this.#parts[0] as UnitRecurring<Jobs>).list(options)
    const { after, ...others } = options
    const look = (part: UnitRecurring<Jobs>, own: { after?: string }): Promise<RecurringPage> =>
      part.list({ ...others, ...own })
    return pageThrough(this.#parts, this.#check, after, look, ({ recurring }) => recurring.length === 0)
  }
}

class UnitRecurring<Jobs extends object> {
  readonly #source: QueueSource

  constructor(source: QueueSource) {
    this.#source = source
  }

  /** As `set` of what is checked, for a queue in partitions: with how often it has moved between them. */
  async place<Name extends keyof Jobs & string>(
    id: string,
    options: RecurringOptions<Jobs, Name>,
    moves: number,
  ): Promise<{ nextAtMs: number | null }> {
    const checked = checkText('id', id, MAX_ID_BYTES)
    const { rule, ...definition } = this.#define(options)
    const { unit, codec, spread: partitions } = this.#source
    const common = { codec: codec.name, partitions, ...(await learnTold(unit)) }
    const answer = await inUse(this.#source, (proof) =>
      unit.run(recur, { ...common, proof, id: checked, ...definition, moves }),
    )
    if (!answer.short || rule.kind === 'interval') return { nextAtMs: orNull(answer.nextMs) }
    const filled = await refillOne(this.#source, { id: checked, rule, knownMs: answer.knownMs }, answer.nowMs)
    return { nextAtMs: orNull(filled.status === 'refilled' ? filled.nextMs : answer.nextMs) }
  }

  /** Throws InvalidArgumentError where `set` would. */
  async check(id: string, options: RecurringOptions<Jobs>): Promise<void> {
    checkText('id', id, MAX_ID_BYTES)
    this.#define(options)
    await this.#source.checks?.check(options.name, options.payload, 'payload')
  }

  async remove(id: string): Promise<boolean> {
    const checked = checkText('id', id, MAX_ID_BYTES)
    const answer = await this.#source.unit.run(unrecur, { id: checked, enough: 0 })
    return answer.status === 'removed' && answer.existed
  }

  /** Removes it unless it has moved often `enough`: resolves to how often then, and to 0 where it is not there any more. */
  async giveWay(id: string, enough: number): Promise<number> {
    const answer = await this.#source.unit.run(unrecur, { id, enough })
    return answer.status === 'kept' ? answer.moves : 0
  }

  async find(id: string): Promise<RecurringJob | null> {
    const { recurring } = await this.#page(0, 1, [checkText('id', id, MAX_ID_BYTES)])
    return recurring[0] ?? null
  }

  async list(options: { after?: string; limit?: number } = {}): Promise<RecurringPage> {
    checkOptions('options', options, ['after', 'limit'])
    const { after = '0', limit = 50 } = options
    if (typeof after !== 'string' || !/^\d{1,15}$/.test(after)) {
      throw new InvalidArgumentError('after', 'must be the next of a page')
    }
    return this.#page(Number(after), checkInteger('limit', limit, 1, 1000), [])
  }

  async #page(after: number, limit: number, wanted: string[]): Promise<RecurringPage> {
    const { unit, codec } = this.#source
    const asked = { codec: codec.name, after, limit, onlyShort: false, wanted }
    const page = await unit.run(recurrences, asked)
    return {
      recurring: page.recurrences.map((told) => this.#toRecurringJob(told)),
      next: page.next < 0 ? null : String(page.next),
    }
  }

  #define(options: RecurringOptions<Jobs>) {
    checkOptions('options', options, ALL)
    const rule = toRecurrence(pick(options, RULE) as unknown as Recurrence)
    const { codec } = this.#source
    const outgoing = encodeJob(codec, checkJobName(options.name), options.payload, toJobOptions(options))
    const { id: _id, delayMs: _delay, replace: _replace, until: till, ...job } = toSpec(outgoing)
    const byCron = { everyMs: 0, offsetMs: 0, cron: '', timeZone: '' }
    const { kind: _kind, ...when } = rule
    return { rule, ...job, till, ...byCron, ...when, ...toBounds(options) }
  }

  #toRecurringJob(told: RecurrencesAnswer['recurrences'][number]): RecurringJob {
    const { id, name, lastMs, runs, priority, maxAttempts, maxRunMs, group, unique, trace } = told
    const reader = new PartReader(this.#source.codec)
    return {
      id,
      name,
      payload: reader.read('payload', told.payload),
      rule: toRule(told),
      nextAtMs: orNull(told.nextMs),
      lastAtMs: orNull(lastMs),
      lastJobId: lastMs === 0 ? null : `${id}@${lastMs}`,
      runs,
      limit: orNull(told.limit),
      untilMs: orNull(told.untilMs),
      priority,
      maxAttempts,
      maxRunMs,
      group,
      unique,
      tags: told.tags === '' ? [] : told.tags.split('\0'),
      trace,
      undecodable: reader.undecodable,
    }
  }
}

function toRule(told: RecurrencesAnswer['recurrences'][number]): RecurrenceRule {
  const { everyMs, offsetMs, cron, timeZone, missed } = told
  return everyMs > 0
    ? { kind: 'interval', everyMs, offsetMs, missed }
    : { kind: 'cron', cron, timeZone, missed }
}

function toJobOptions(options: RecurringJobOptions): SpecOptions {
  const { unique } = options
  // A run takes nobody's place.
  if (typeof unique === 'object' && unique !== null) checkOptions('unique', unique, ['key', 'until', 'for'])
  return toSpecOptions(pick(options, OPTIONS))
}

function toBounds({ limit, until }: RecurringBounds): { limit: number; untilMs: number } {
  const untilMs = types.isDate(until) ? until.getTime() : until
  return {
    limit: limit === undefined ? 0 : checkInteger('limit', limit, 1, Number.MAX_SAFE_INTEGER),
    untilMs: untilMs === undefined ? 0 : checkInteger('until', untilMs, 1, MAX_INSTANT),
  }
}

/** Those that are given. */
function pick(options: object, names: readonly string[]): Record<string, unknown> {
  const given = Object.entries(options).filter(([name, value]) => names.includes(name) && value !== undefined)
  return Object.fromEntries(given)
}

/** Where the scripts say 0. */
function orNull(value: number): number | null {
  return value === 0 ? null : value
}
