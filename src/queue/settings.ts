// The settings of a queue and of its groups, and their inspection.

import { configure, configureGroup, inspect } from '../generated/queue.ts'
import { inUse } from '../runtime/partitions/agreement.ts'
import { partitionOf } from '../runtime/partitions/partition-hash.ts'
import { checkInteger, checkOptions, checkText } from '../runtime/values/arguments.ts'
import { type Duration, toMs } from '../runtime/values/duration.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { learnNotifyChannel } from '../runtime/waiting/notify-channel.ts'
import type { QueueSource } from './source/source.ts'

/**
 * `limit` jobs a window in the long run, and up to `burst` at once after a quiet time. No window has more than both
 * together. With a burst of 1 the jobs are spread evenly, and no window has more than `limit`.
 */
export interface Rate {
  limit: number
  window: Duration
  /** Default: the same as `limit`. */
  burst?: number
}

export interface Throttle {
  /** The most jobs that are claimed at the same time; null removes the limit. */
  concurrency?: number | null
  /** How many jobs may be claimed in a time; null removes the limit. */
  rate?: Rate | null
}

export interface QueueSettings extends Throttle {
  /** How many done jobs are kept, and how long; null keeps none. */
  retention?: { count?: number; age?: Duration } | null
}

export interface QueueInspection {
  readonly nowMs: number
  /** When the first job was enqueued; null when there was none. */
  readonly beganAtMs: number | null
  /** The codec of the payloads; null when no job was ever enqueued. */
  readonly codec: string | null
  readonly paused: boolean
  /** The most jobs claimed at the same time; 0 for no limit. */
  readonly concurrency: number
  readonly rateLimit: number
  readonly rateWindowMs: number
  /** 0: as many as `rateLimit`. */
  readonly rateBurst: number
  readonly retentionCount: number
  readonly retentionMs: number
  /** From here to `done`: the number of jobs in each state. */
  readonly ready: number
  readonly scheduled: number
  /** Jobs that wait for their dependencies. */
  readonly blocked: number
  readonly claimed: number
  readonly dead: number
  readonly done: number
  /** Due jobs and lapsed leases that no call has processed yet; they still count in their old state. */
  readonly overdue: number
  readonly groups: number
  /** Entries that wait to be delivered to other queues. */
  readonly outbox: number
  /** Workers that wait for jobs. */
  readonly idle: number
  /** From here to `cancelled`: totals since the queue began. */
  readonly enqueued: number
  readonly acked: number
  readonly retried: number
  readonly failed: number
  readonly reclaimed: number
  readonly cancelled: number
  readonly readyBytes: number
  readonly scheduledBytes: number
  readonly blockedBytes: number
  readonly claimedBytes: number
  readonly deadBytes: number
  readonly doneBytes: number
  /** When the oldest ready job without priority and group was enqueued; null when there is none. */
  readonly oldestAtMs: number | null
}

export interface GroupInspection {
  readonly paused: boolean
  readonly concurrency: number
  readonly rateLimit: number
  readonly rateWindowMs: number
  /** 0: as many as `rateLimit`. */
  readonly rateBurst: number
  readonly ready: number
  readonly claimed: number
}

interface Numbers {
  paused: number
  concurrency: number
  rateLimit: number
  rateWindowMs: number
  /** Ignored when the rate stays as it is. */
  rateBurst: number
}

interface Kept {
  readonly retentionCount: number
  readonly retentionMs: number
}

const SAME_KEPT: Kept = { retentionCount: -1, retentionMs: -1 }
const SAME: Numbers = { paused: -1, concurrency: -1, rateLimit: -1, rateWindowMs: -1, rateBurst: 0 }
const MOST_STARTS = 1_000_000_000

/** The sums of all partitions. Each partition is read at an instant of its own. */
export interface PartitionedQueueInspection extends Omit<QueueInspection, 'codec'> {
  /** True when all partitions are paused. */
  readonly paused: boolean
  /** The largest number of any partition, because each worker waits in all of them. */
  readonly idle: number
  /** Each partition, in order. */
  readonly partitions: readonly QueueInspection[]
}

/** In a partitioned queue the limits are divided among the partitions; a group has its limits in its own partition. */
export class Settings {
  readonly #units: readonly UnitSettings[]

  constructor(sources: readonly QueueSource[]) {
    this.#units = sources.map((source) => new UnitSettings(source))
  }

  /** Pauses the queue: no more jobs are claimed; those at work continue. */
  pause(): Promise<void> {
    return this.#configure(this.#units.map(() => ({ ...SAME, paused: 1 })))
  }

  /** Resumes the queue; paused groups stay paused. */
  resume(): Promise<void> {
    return this.#configure(this.#units.map(() => ({ ...SAME, paused: 0 })))
  }

  /**
   * Changes the given settings for all clients of the queue. Each partition gets its share of the concurrency, the
   * rate and the retention count. Throws InvalidArgumentError, also for a total that is smaller than the number of
   * partitions.
   */
  async set(settings: QueueSettings): Promise<void> {
    checkOptions('settings', settings, ['concurrency', 'rate', 'retention'])
    const count = this.#units.length
    const shares = this.#units.map((_, at) => (count === 1 ? settings : shareOf(settings, at, count)))
    await this.#configure(shares.map((share) => ({ ...toNumbers(share), ...toRetention(share.retention) })))
  }

  /** Pauses a group: no more of its jobs are claimed. Resolves to its new settings. Throws InvalidArgumentError. */
  async pauseGroup(group: string): Promise<GroupInspection> {
    return this.#unitOf(group).configureGroup(group, { ...SAME, paused: 1 })
  }

  /** Resumes a group. Resolves to its new settings. Throws InvalidArgumentError. */
  async resumeGroup(group: string): Promise<GroupInspection> {
    return this.#unitOf(group).configureGroup(group, { ...SAME, paused: 0 })
  }

  /** Changes the given settings of a group. Resolves to its new settings and counts. Throws InvalidArgumentError. */
  async setGroup(group: string, settings: Throttle): Promise<GroupInspection> {
    checkOptions('settings', settings, ['concurrency', 'rate'])
    return this.#unitOf(group).configureGroup(group, toNumbers(settings))
  }

  /** Counts, sizes and settings of the queue; the sums of its partitions. Changes nothing. */
  async inspect(): Promise<QueueInspection> {
    const inspections = await this.#inspectEach()
    return inspections.reduce(added)
  }

  /** @internal The sums, and each partition by itself. */
  async inspectAll(): Promise<PartitionedQueueInspection> {
    const partitions = await this.#inspectEach()
    const { codec: _, ...counts } = partitions.reduce(added)
    return { ...counts, partitions }
  }

  #inspectEach(): Promise<QueueInspection[]> {
    return Promise.all(this.#units.map((unit) => unit.inspect()))
  }

  async #configure(numbers: readonly (Numbers & Partial<Kept>)[]): Promise<void> {
    await Promise.all(this.#units.map((unit, at) => unit.configure(numbers[at] as Numbers)))
  }

  #unitOf(group: string): UnitSettings {
    const checked = checkText('group', group, 512)
    const { partition } = this.#units[0] as UnitSettings
    const home = partition === null ? 0 : partitionOf(checked, this.#units.length, 'group')
    return this.#units[home] as UnitSettings
  }
}

class UnitSettings {
  readonly #source: QueueSource

  constructor(source: QueueSource) {
    this.#source = source
  }

  /** Null for a queue without partitions. */
  get partition(): number | null {
    return this.#source.partition
  }

  async inspect(): Promise<QueueInspection> {
    const { unit, codec } = this.#source
    const { status: _, beganMs, oldestMs, ...counts } = await unit.run(inspect, { codec: codec.name })
    return {
      ...counts,
      codec: beganMs === 0 ? null : counts.codec,
      beganAtMs: beganMs === 0 ? null : beganMs,
      oldestAtMs: oldestMs === 0 ? null : oldestMs,
    }
  }

  async configure(numbers: Numbers & Partial<Kept>): Promise<void> {
    const { unit, codec, spread: partitions } = this.#source
    const notifyChannel = await learnNotifyChannel(unit)
    const set = { ...SAME_KEPT, ...numbers }
    await inUse(this.#source, (proof) =>
      unit.run(configure, { codec: codec.name, partitions, proof, ...notifyChannel, ...set }),
    )
  }

  async configureGroup(name: string, numbers: Numbers): Promise<GroupInspection> {
    const { unit, codec, spread: partitions } = this.#source
    const notifyChannel = await learnNotifyChannel(unit)
    const answer = await inUse(this.#source, (proof) =>
      unit.run(configureGroup, { codec: codec.name, partitions, proof, ...notifyChannel, name, ...numbers }),
    )
    const { status: _, ...group } = answer
    return group
  }
}

/** -1 leaves a setting as it is; 0 removes the limit. */
function toNumbers({ concurrency, rate }: Throttle): Numbers {
  const numbers = { ...SAME }
  if (concurrency === null) numbers.concurrency = 0
  else if (concurrency !== undefined)
    numbers.concurrency = checkInteger('concurrency', concurrency, 1, 1_000_000)
  if (rate === null) return { ...numbers, rateLimit: 0, rateWindowMs: 0 }
  if (rate === undefined) return numbers
  checkOptions('rate', rate, ['limit', 'window', 'burst'])
  const rateLimit = checkInteger('rate.limit', rate.limit, 1, MOST_STARTS)
  const rateBurst = rate.burst === undefined ? 0 : checkInteger('rate.burst', rate.burst, 1, MOST_STARTS)
  const rateWindowMs = toMs('rate.window', rate.window, { min: '1ms', max: '30d' })
  return { ...numbers, rateLimit, rateWindowMs, rateBurst }
}

function toRetention(retention: QueueSettings['retention']): Kept {
  if (retention === undefined) return SAME_KEPT
  if (retention === null) return { retentionCount: 0, retentionMs: 0 }
  checkOptions('retention', retention, ['count', 'age'])
  const { count, age } = retention
  if (count === undefined && age === undefined) {
    throw new InvalidArgumentError('retention', 'must have a count or an age')
  }
  return {
    retentionCount:
      count === undefined ? 0 : checkInteger('retention.count', count, 1, Number.MAX_SAFE_INTEGER),
    retentionMs: age === undefined ? 0 : toMs('retention.age', age, { max: '365d' }),
  }
}

/** Null when both are null. */
function earlier(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other
  return Math.min(one, other)
}

function added(one: QueueInspection, other: QueueInspection): QueueInspection {
  const sums = Object.entries(one).map(([field, value]) => {
    const more = other[field as keyof QueueInspection]
    return [field, typeof value === 'number' ? value + (more as number) : value]
  })
  return {
    ...(Object.fromEntries(sums) as unknown as QueueInspection),
    nowMs: Math.max(one.nowMs, other.nowMs),
    codec: one.codec ?? other.codec,
    beganAtMs: earlier(one.beganAtMs, other.beganAtMs),
    oldestAtMs: earlier(one.oldestAtMs, other.oldestAtMs),
    paused: one.paused && other.paused,
    rateWindowMs: Math.max(one.rateWindowMs, other.rateWindowMs),
    retentionMs: Math.max(one.retentionMs, other.retentionMs),
    idle: Math.max(one.idle, other.idle),
  }
}

/** Throws InvalidArgumentError. */
function shareOf(settings: QueueSettings, at: number, count: number): QueueSettings {
  const { concurrency, rate, retention } = settings
  const part = (argument: string, total: number): number => {
    checkInteger(argument, total, count, Number.MAX_SAFE_INTEGER)
    return Math.floor(total / count) + (at < total % count ? 1 : 0)
  }
  const shares = { ...settings }
  if (typeof concurrency === 'number') shares.concurrency = part('concurrency', concurrency)
  if (typeof rate?.limit === 'number') shares.rate = { ...rate, limit: part('rate.limit', rate.limit) }
  if (typeof rate?.burst === 'number')
    shares.rate = { ...rate, ...shares.rate, burst: part('rate.burst', rate.burst) }
  if (typeof retention?.count === 'number')
    shares.retention = { ...retention, count: part('retention.count', retention.count) }
  return shares
}
