// The options of a job: their types, their checks, and their form for the script.

import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import {
  checkFlag,
  checkInteger,
  checkOneOf,
  checkOptions,
  checkText,
} from '../../runtime/values/arguments.ts'
import { type Duration, toMs } from '../../runtime/values/duration.ts'
import {
  type OnDependencyFailure,
  type DependencyId,
  toOnDependencyFailure,
  toDependencies,
} from './dependencies.ts'

/** How long a job waits before its next attempt. */
export interface Backoff {
  /** `linear`: the base times the attempt; `exponential`: the base, doubled with each attempt. */
  kind: 'fixed' | 'linear' | 'exponential'
  base: Duration
  /** The longest wait. Default: unlimited. */
  max?: Duration
  /** The random part of each wait, from 0 to 1; default 0.2. */
  jitter?: number
}

/** Deduplicates jobs: another job with the same key is a duplicate while the key is taken. */
export interface Unique {
  key: string
  /** `started`: the key is free once the job is claimed; `done` (default): once it is done, dead or cancelled. */
  until?: 'started' | 'done'
  /** Instead of `until`: the key stays taken for this long, even if the job ends earlier. */
  for?: Duration
  /**
   * A later job with the key replaces the payload and the options of the waiting one; with `delay` its wait starts
   * again. Default false: the first job stays as it is.
   */
  replace?: boolean
}

export interface JobOptions {
  /** The id of the job, up to 512 bytes, not digits alone. While a job with this id exists, another one is a duplicate. Default: its number. */
  id?: string
  /** How long until the job is ready, up to 365 days; default: ready at once. */
  delay?: Duration
  /** Jobs with a greater priority come first; from -1,000,000 to 1,000,000, default 0. */
  priority?: number
  /** A job that has failed this many attempts is dead, 1 to 65,535; default 3. */
  maxAttempts?: number
  /** How long a failed job waits: `{ kind, base, max, jitter }`, or `'none'` for no wait. Default: exponential from one second to an hour. */
  backoff?: Backoff | 'none'
  /** The longest time of one attempt; after it, its signal aborts and the attempt has failed. Up to 30 days. Default: unlimited. */
  maxRun?: Duration
  /** The job's group, up to 512 bytes; groups take turns. */
  group?: string
  /** Deduplicates by this key: `{ key, until: 'started' | 'done', for, replace }`; a text is short for `{ key }`. */
  unique?: string | Unique
  /** Up to 20 tags of up to 100 bytes, by which jobs are searched. */
  tags?: readonly string[]
  /** The trace context of the job, such as a `traceparent`. */
  trace?: string
  /**
   * The ids of up to 100 jobs, or `{ queue, id }`. The job is blocked until they are done; its delay starts then. A dependency that does not exist (any more) is
   * treated as done. `job.dependencies()` returns their results.
   */
  dependsOn?: readonly DependencyId[]
  /** What happens to the job when a dependency dies or is cancelled: `fail`, `cancel` or `run`. Default `fail`. */
  onDependencyFailure?: OnDependencyFailure
  /** Another job with the same key within 24 hours is a duplicate, even if the first has ended. */
  idempotencyKey?: string
  /**
   * How long after its end `jobs.waitForResult` can still report how the job ended, up to 30 days. Default: not kept.
   */
  resultTtl?: Duration
}

/** A job as the script takes it. */
export interface JobSpec {
  readonly name: string
  readonly payload: string | Uint8Array
  readonly id: string
  readonly delayMs: number
  readonly priority: number
  readonly maxAttempts: number
  readonly maxRunMs: number
  readonly backoff: number
  readonly backoffMs: number
  readonly backoffMaxMs: number
  readonly jitter: number
  readonly group: string
  readonly unique: string
  readonly until: string
  readonly windowMs: number
  readonly replace: boolean
  readonly trace: string
  readonly tags: string
  readonly dependsOn: string
  readonly onDependencyFailure: string
  readonly idempotencyKey: string
  readonly resultTtlMs: number
}

/** The options of a job, without its name and payload, as the script takes them. */
export type SpecOptions = Omit<JobSpec, 'name' | 'payload'>

/** The defaults. The script has the same ones. */
export const PLAIN: SpecOptions = {
  id: '',
  delayMs: 0,
  priority: 0,
  maxAttempts: 3,
  maxRunMs: 0,
  backoff: 3,
  backoffMs: 1000,
  backoffMaxMs: 3_600_000,
  jitter: 20,
  group: '',
  unique: '',
  until: '',
  windowMs: 0,
  replace: false,
  trace: '',
  tags: '',
  dependsOn: '',
  onDependencyFailure: 'b',
  idempotencyKey: '',
  resultTtlMs: 0,
}

export const JOB_OPTIONS = [
  'id',
  'delay',
  'priority',
  'maxAttempts',
  'backoff',
  'maxRun',
  'group',
  'unique',
  'tags',
  'trace',
  'dependsOn',
  'onDependencyFailure',
  'idempotencyKey',
  'resultTtl',
] as const

export const MAX_TEXT_BYTES = 512
const MAX_PRIORITY = 1_000_000
const MAX_TAGS = 20
const KINDS = ['fixed', 'linear', 'exponential'] as const

/** PLAIN itself where there is no option besides name and payload. Throws InvalidArgumentError. */
export function toSpecOptions(options: JobOptions): SpecOptions {
  if (hasNoOptions(options)) return PLAIN
  const {
    id,
    delay,
    priority,
    maxAttempts,
    backoff,
    maxRun,
    group,
    unique,
    tags,
    trace,
    dependsOn: dependencies,
    onDependencyFailure,
    idempotencyKey,
    resultTtl,
  } = options
  return {
    ...PLAIN,
    ...(id === undefined ? {} : { id: checkId(id) }),
    ...(delay === undefined ? {} : { delayMs: toMs('delay', delay, { min: '0ms', max: '365d' }) }),
    ...(priority === undefined
      ? {}
      : { priority: checkInteger('priority', priority, -MAX_PRIORITY, MAX_PRIORITY) }),
    ...(maxAttempts === undefined
      ? {}
      : { maxAttempts: checkInteger('maxAttempts', maxAttempts, 1, 65_535) }),
    ...(backoff === undefined ? {} : toBackoff(backoff)),
    ...(maxRun === undefined ? {} : { maxRunMs: toMs('maxRun', maxRun, { max: '30d' }) }),
    ...(group === undefined ? {} : { group: checkText('group', group, MAX_TEXT_BYTES) }),
    ...(unique === undefined ? {} : toUnique(unique)),
    ...(tags === undefined ? {} : { tags: checkTags(tags).join('\0') }),
    ...(idempotencyKey === undefined
      ? {}
      : { idempotencyKey: checkText('idempotencyKey', idempotencyKey, MAX_TEXT_BYTES) }),
    ...(trace === undefined ? {} : { trace: checkText('trace', trace, MAX_TEXT_BYTES) }),
    ...(dependencies === undefined ? {} : { dependsOn: toDependencies(dependencies, 'dependsOn') }),
    ...(onDependencyFailure === undefined
      ? {}
      : { onDependencyFailure: toOnDependencyFailure(onDependencyFailure) }),
    ...(resultTtl === undefined ? {} : { resultTtlMs: toMs('resultTtl', resultTtl, { max: '30d' }) }),
  }
}

function hasNoOptions(options: JobOptions): boolean {
  for (const key in options) if (key !== 'name' && key !== 'payload') return false
  return true
}

/** Throws InvalidArgumentError. */
export function checkJobName(name: unknown): string {
  return checkText('name', name, MAX_TEXT_BYTES)
}

function checkId(id: unknown): string {
  const checked = checkText('id', id, MAX_TEXT_BYTES)
  // Ids that the queue assigns are digits.
  if (/^\d+$/.test(checked)) throw new InvalidArgumentError('id', 'must not be digits alone')
  return checked
}

function toBackoff(backoff: Backoff | 'none'): Partial<SpecOptions> {
  if (backoff === 'none') return { backoff: 0, backoffMs: 0, backoffMaxMs: 0, jitter: 0 }
  checkOptions('backoff', backoff, ['kind', 'base', 'max', 'jitter'])
  const { kind, base, max, jitter = 0.2 } = backoff
  if (typeof jitter !== 'number' || !(jitter >= 0 && jitter <= 1)) {
    throw new InvalidArgumentError('backoff.jitter', 'must be a number from 0 to 1')
  }
  return {
    backoff: KINDS.indexOf(checkOneOf('backoff.kind', kind, KINDS)) + 1,
    backoffMs: toMs('backoff.base', base, { min: '0ms', max: '30d' }),
    backoffMaxMs: max === undefined ? 0 : toMs('backoff.max', max, { max: '30d' }),
    jitter: Math.round(jitter * 100),
  }
}

function toUnique(unique: string | Unique): Partial<SpecOptions> {
  if (typeof unique === 'string') return toUnique({ key: unique })
  checkOptions('unique', unique, ['key', 'until', 'for', 'replace'])
  const { key, until = 'done', for: span, replace = false } = unique
  checkOneOf('unique.until', until, ['started', 'done'])
  checkFlag('unique.replace', replace)
  return {
    unique: checkText('unique.key', key, MAX_TEXT_BYTES),
    until: span !== undefined ? 'w' : until === 'started' ? 's' : 'd',
    windowMs: span === undefined ? 0 : toMs('unique.for', span, { max: '365d' }),
    replace,
  }
}

/** Throws InvalidArgumentError. */
export function checkTags(tags: unknown): string[] {
  if (!Array.isArray(tags) || tags.length > MAX_TAGS) {
    throw new InvalidArgumentError('tags', `must be a list of at most ${MAX_TAGS} texts`)
  }
  return [...new Set(tags.map((tag) => checkText('tags', tag, 100)))]
}

// The share of a script call that the options of a job take. Redis serves no other client while a script runs, so a
// call carries fewer jobs when they have many options, just as it carries fewer large ones.

/** The most that one call carries. */
export const CALL: { readonly items: number; readonly bytes: number } = {
  items: 1000,
  bytes: 4 * 1024 * 1024,
}

// Measured by `npm run bench -- queue-options`: a call is full with a thousand jobs that have one option of no cost.
const COST = {
  job: 1,
  group: 1,
  id: 0.5,
  unique: 0.7,
  idempotencyKey: 0.8,
  tag: 0.2,
  dependencies: 1,
  dependency: 0.4,
}
const BYTES = CALL.bytes / CALL.items

/** The cost of the options in bytes: so many payload bytes would fill as much of a call. */
export function workOf(options: SpecOptions): number {
  if (options === PLAIN) return 0
  const { id, group, unique, idempotencyKey, tags, dependsOn: dependencies } = options
  let cost = COST.job
  if (id !== '') cost += COST.id
  if (group !== '') cost += COST.group
  if (unique !== '') cost += COST.unique
  if (idempotencyKey !== '') cost += COST.idempotencyKey
  if (tags !== '') cost += COST.tag * tags.split('\0').length
  if (dependencies !== '') cost += COST.dependencies + COST.dependency * dependencies.split('\0').length
  return Math.floor(cost * BYTES)
}
