// What holds for a whole queue and for its groups, and a picture of it all.

import { configure, configureGroup, inspect } from '../generated/queue.ts'
import { inUse } from '../runtime/partitions/agreement.ts'
import { partitionOf } from '../runtime/partitions/partition-hash.ts'
import { checkInteger, checkOptions, checkText } from '../runtime/values/arguments.ts'
import { type Duration, toMs } from '../runtime/values/duration.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import { learnTold } from '../runtime/waiting/notify-channel.ts'
import type { QueueSource } from './source/source.ts'

/**
 * `limit` jobs a window in the long run, and `burst` of them at once if they were saved up. No window has more than both
 * together; with a burst of 1 they are spread evenly, and no window has more than `limit`.
 */
export interface Rate {
  limit: number
  window: Duration
  /** Default: as many as `limit`. */
  burst?: number
}

export interface Throttle {
  /** Jobs claimed at once; null: any number. */
  concurrency?: number | null
  /** Jobs claimed in a time; null: any number. */
  rate?: Rate | null
}

export interface QueueSettings extends Throttle {
  /** Jobs that are done and stay to be looked at; null: none. */
  retention?: { count?: number; age?: Duration } | null
}

export interface QueueInspection {
  readonly nowMs: number
  /** When its first job was enqueued; null: there was none. */
  readonly beganAtMs: number | null
  /** Of the payloads; null when no job was ever enqueued. */
  readonly codec: string | null
  readonly paused: boolean
  /** 0: any number. */
  readonly concurrency: number
  readonly rateLimit: number
  readonly rateWindowMs: number
  /** 0: as many as `rateLimit`. */
  readonly rateBurst: number
  readonly retentionCount: number
  readonly retentionMs: number
  /** Jobs in each state. */
  readonly ready: number
  readonly scheduled: number
  /** Jobs that wait for their dependencies. */
  readonly blocked: number
  readonly claimed: number
  readonly dead: number
  readonly done: number
  /** Jobs that are due, or whose lease has ended, and that nobody has looked at since; they count where they stood. */
  readonly overdue: number
  readonly groups: number
  /** What waits to be brought to other queues. */
  readonly outbox: number
  /** Workers that wait for work. */
  readonly idle: number
  /** How often, since the queue began. */
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
  /** When the oldest ready job without priority and group was enqueued; null: there is none. */
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
  /** Without effect where the rate stays as it is. */
  rateBurst: number
}

interface Kept {
  readonly retentionCount: number
  readonly retentionMs: number
}

const SAME_KEPT: Kept = { retentionCount: -1, retentionMs: -1 }
const SAME: Numbers = { paused: -1, concurrency: -1, rateLimit: -1, rateWindowMs: -1, rateBurst: 0 }
const MOST_STARTS = 1_000_000_000

/** A picture of all partitions: sums, exact for each at an instant of its own. */
export interface PartitionedQueueInspection extends Omit<QueueInspection, 'codec'> {
  /** True when all are. */
  readonly paused: boolean
  /** Of the partition where most wait: a worker waits in each. */
  readonly idle: number
  /** In their order. */
  readonly partitions: readonly QueueInspection[]
}

/** In partitions numbers are divided among them, those of a group hold in the group's own. */
export class Settings {
  readonly #units: readonly UnitSettings[]

  constructor(sources: readonly QueueSource[]) {
    this.#units = sources.map((source) => new UnitSettings(source))
  }

  /** Gives out no more jobs; those at work go on. */
  pause(): Promise<void> {
    return this.#configure(this.#units.map(() => ({ ...SAME, paused: 1 })))
  }

  /** Gives out jobs again; groups that are paused stay so. */
  resume(): Promise<void> {
    return this.#configure(this.#units.map(() => ({ ...SAME, paused: 0 })))
  }

  /**
   * Sets what is named, for all who use the queue: each partition has its share of the concurrency, the rate and
   * what is kept. Throws InvalidArgumentError, also for less than one for each.
   */
  async set(settings: QueueSettings): Promise<void> {
    checkOptions('settings', settings, ['concurrency', 'rate', 'retention'])
    const count = this.#units.length
    const shares = this.#units.map((_, at) => (count === 1 ? settings : shareOf(settings, at, count)))
    await this.#configure(shares.map((share) => ({ ...toNumbers(share), ...toRetention(share.retention) })))
  }

  /** Gives out no more jobs of a group. Resolves to what holds for it now. Throws InvalidArgumentError. */
  async pauseGroup(group: string): Promise<GroupInspection> {
    return this.#unitOf(group).configureGroup(group, { ...SAME, paused: 1 })
  }

  /** Gives out jobs of a group again. Resolves to what holds for it now. Throws InvalidArgumentError. */
  async resumeGroup(group: string): Promise<GroupInspection> {
    return this.#unitOf(group).configureGroup(group, { ...SAME, paused: 0 })
  }

  /** Sets what is named, for a group, undivided. Resolves to its picture. Throws InvalidArgumentError. */
  async setGroup(group: string, settings: Throttle): Promise<GroupInspection> {
    checkOptions('settings', settings, ['concurrency', 'rate'])
    return this.#unitOf(group).configureGroup(group, toNumbers(settings))
  }

  /** A read-only picture of the queue; of partitions the sums. */
  async inspect(): Promise<QueueInspection> {
    const inspections = await this.#inspectEach()
    return inspections.reduce(added)
  }

  /** @internal With a picture of each partition. */
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

  /** Null: the queue has none. */
  get partition(): number | null {
    return this.#source.partition
  }

  async inspect(): Promise<QueueInspection> {
    const { unit, codec } = this.#source
    const { status: _, beganMs, oldestMs, ...told } = await unit.run(inspect, { codec: codec.name })
    return {
      ...told,
      codec: beganMs === 0 ? null : told.codec,
      beganAtMs: beganMs === 0 ? null : beganMs,
      oldestAtMs: oldestMs === 0 ? null : oldestMs,
    }
  }

  async configure(numbers: Numbers & Partial<Kept>): Promise<void> {
    const { unit, codec, spread: partitions } = this.#source
    const told = await learnTold(unit)
    const set = { ...SAME_KEPT, ...numbers }
    await inUse(this.#source, (proof) =>
      unit.run(configure, { codec: codec.name, partitions, proof, ...told, ...set }),
    )
  }

  async configureGroup(name: string, numbers: Numbers): Promise<GroupInspection> {
    const { unit, codec, spread: partitions } = this.#source
    const told = await learnTold(unit)
    const answer = await inUse(this.#source, (proof) =>
      unit.run(configureGroup, { codec: codec.name, partitions, proof, ...told, name, ...numbers }),
    )
    const { status: _, ...group } = answer
    return group
  }
}

/** -1 leaves a number as it is, 0 means any number. */
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

/** Null where neither has any. */
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
