// Recurring jobs. The server stores them, and spawns a job at each of their times.
//
// Each is stored in one partition of its queue: that of the group of its jobs, or without a group that of its id. A
// change of group moves it; the number of its moves is stored with it. If several processes move it at once, it may
// be in several partitions for a moment. Each process then checks all partitions once more, and removes the copies
// with fewer moves. Of two copies with equally many moves the one in the later partition stays.

import { types } from 'node:util'
import { type RecurrencesAnswer, recur, recurrences, unrecur } from '../../generated/queue.ts'
import { inUse } from '../../runtime/partitions/agreement.ts'
import { checkInteger, checkOptions, checkText } from '../../runtime/values/arguments.ts'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { learnNotifyChannel } from '../../runtime/waiting/notify-channel.ts'
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

/**
 * The options of each spawned job. Its id is the id of the recurring job, `@`, and the time of the run in
 * milliseconds.
 */
export interface RecurringJobOptions
  extends Omit<
    JobOptions,
    'id' | 'delay' | 'unique' | 'dependsOn' | 'onDependencyFailure' | 'idempotencyKey' | 'resultTtl'
  > {
  /** While the key is taken, a run spawns no job. With a key of its own, no two runs are at work at the same time. */
  unique?: string | Omit<Unique, 'replace'>
}

export interface RecurringBounds {
  /** How many jobs are spawned in all; default: unlimited. */
  limit?: number
  /** The time of the last possible run: a date, or milliseconds since 1970. Default: unlimited. */
  until?: Date | number
}

export type RecurringOptions<Jobs extends object, Name extends keyof Jobs = keyof Jobs> = Recurrence &
  RecurringBounds &
  RecurringJobOptions & { name: Name & string; payload: Jobs[Name] }

export interface RecurringJob {
  readonly id: string
  readonly name: string
  /** Null also when the codec could not read it: then `undecodable` lists it. */
  readonly payload: unknown
  readonly rule: RecurrenceRule
  /** Null when it has ended, or its next time is not computed yet. */
  readonly nextAtMs: number | null
  /** The time of the run that spawned the last job, and the id of that job; null when there was none. */
  readonly lastAtMs: number | null
  readonly lastJobId: string | null
  /** How many jobs it has spawned. */
  readonly runs: number
  readonly limit: number | null
  readonly untilMs: number | null
  readonly priority: number
  readonly maxAttempts: number
  /** 0 for no limit. */
  readonly maxRunMs: number
  /** Empty when it has none; so are `unique` and `trace`. */
  readonly group: string
  readonly unique: string
  readonly tags: readonly string[]
  readonly trace: string
  /** Lists the payload when the codec could not read it; else empty. */
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

/** The recurring jobs of a queue, by their ids. Changes apply to all clients of the queue. */
export class Recurring<Jobs extends object = Record<string, unknown>> {
  readonly #parts: readonly UnitRecurring<Jobs>[]
  readonly #isSpread: boolean
  readonly #check: () => Promise<void>

  /** `check` verifies the number of partitions. */
  constructor(sources: readonly QueueSource[], check: () => Promise<void>) {
    this.#parts = sources.map((source) => new UnitRecurring<Jobs>(source))
    this.#isSpread = sources[0]?.partition !== null
    this.#check = check
  }

  /**
   * Creates or replaces a recurring job, for all clients of the queue. Setting the same one again changes nothing, so
   * every process may set it when it starts. A change of group may move it to another partition, where it starts
   * over. Resolves to the time of its next run; null when there is no further run. Throws InvalidArgumentError.
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
    // Also before it is set, so that no run spawns two jobs.
    if (known.some((each, at) => each > 0 && at !== home)) await this.#leaveTo(home, id, moves)
    const set = await (this.#parts[home] as UnitRecurring<Jobs>).place(id, options, moves)
    const isOutdone = await this.#leaveTo(home, id, moves)
    if (isOutdone) await (this.#parts[home] as UnitRecurring<Jobs>).giveWay(id, moves + 1)
    return set
  }

  /** Removes it from all other partitions. True when a concurrent `set` has moved it on. */
  async #leaveTo(home: number, id: string, moves: number): Promise<boolean> {
    const left = await Promise.all(
      this.#parts.map(async (part, at) => {
        if (at === home) return 0
        return part.giveWay(id, at < home ? moves + 1 : moves)
      }),
    )
    return left.some((each) => each > 0)
  }

  /** Removes a recurring job; jobs that it has spawned stay. Resolves to false when there was none with this id. */
  async remove(id: string): Promise<boolean> {
    await this.#check()
    const existed = await Promise.all(this.#parts.map((part) => part.remove(id)))
    return existed.includes(true)
  }

  /** The recurring job with this id; null when there is none. */
  async get(id: string): Promise<RecurringJob | null> {
    await this.#check()
    const found = await Promise.all(this.#parts.map((part) => part.find(id)))
    return found.find((recurring) => recurring !== null) ?? null
  }

  /**
   * Recurring jobs by their next run, one partition after the other; those without a next run come last. Runs that
   * are due while you read shift the pages. A page ends once its payloads have 4 MiB. Throws InvalidArgumentError.
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

  /** Stores a checked recurring job with the number of its moves between partitions. */
  async place<Name extends keyof Jobs & string>(
    id: string,
    options: RecurringOptions<Jobs, Name>,
    moves: number,
  ): Promise<{ nextAtMs: number | null }> {
    const checked = checkText('id', id, MAX_ID_BYTES)
    const { rule, ...definition } = this.#define(options)
    const { unit, codec, spread: partitions } = this.#source
    const common = { codec: codec.name, partitions, ...(await learnNotifyChannel(unit)) }
    const answer = await inUse(this.#source, (proof) =>
      unit.run(recur, { ...common, proof, id: checked, ...definition, moves }),
    )
    if (!answer.short || rule.kind === 'interval') return { nextAtMs: orNull(answer.nextMs) }
    const filled = await refillOne(this.#source, { id: checked, rule, knownMs: answer.knownMs }, answer.nowMs)
    return { nextAtMs: orNull(filled.status === 'refilled' ? filled.nextMs : answer.nextMs) }
  }

  /** Throws InvalidArgumentError as `set` does. */
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

  /**
   * Removes it unless it has moved at least `enough` times. Resolves to its moves, or to 0 when it is not here (any
   * more).
   */
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
      recurring: page.recurrences.map((raw) => this.#toRecurringJob(raw)),
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

  #toRecurringJob(raw: RecurrencesAnswer['recurrences'][number]): RecurringJob {
    const { id, name, lastMs, runs, priority, maxAttempts, maxRunMs, group, unique, trace } = raw
    const reader = new PartReader(this.#source.codec)
    return {
      id,
      name,
      payload: reader.read('payload', raw.payload),
      rule: toRule(raw),
      nextAtMs: orNull(raw.nextMs),
      lastAtMs: orNull(lastMs),
      lastJobId: lastMs === 0 ? null : `${id}@${lastMs}`,
      runs,
      limit: orNull(raw.limit),
      untilMs: orNull(raw.untilMs),
      priority,
      maxAttempts,
      maxRunMs,
      group,
      unique,
      tags: raw.tags === '' ? [] : raw.tags.split('\0'),
      trace,
      undecodable: reader.undecodable,
    }
  }
}

function toRule(raw: RecurrencesAnswer['recurrences'][number]): RecurrenceRule {
  const { everyMs, offsetMs, cron, timeZone, missed } = raw
  return everyMs > 0
    ? { kind: 'interval', everyMs, offsetMs, missed }
    : { kind: 'cron', cron, timeZone, missed }
}

function toJobOptions(options: RecurringJobOptions): SpecOptions {
  const { unique } = options
  // A run never replaces another job.
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

/** The named options that are set. */
function pick(options: object, names: readonly string[]): Record<string, unknown> {
  const given = Object.entries(options).filter(([name, value]) => names.includes(name) && value !== undefined)
  return Object.fromEntries(given)
}

/** The scripts use 0 for null. */
function orNull(value: number): number | null {
  return value === 0 ? null : value
}
