// What holds for a queue in partitions: numbers are divided among them, those of a group hold in the group's own.

import { checkInteger, checkOptions, checkText } from '../runtime/values/arguments.ts'
import { partitionOf } from '../runtime/partitions/partition-hash.ts'
import type { GroupInspection, QueueInspection, QueueSettings, Settings, Throttle } from './settings.ts'

/** A picture of all partitions: sums, exact for each at an instant of its own. */
export interface PartitionedQueueInspection extends Omit<QueueInspection, 'codec'> {
  /** True when all are. */
  readonly paused: boolean
  /** Of the partition where most wait: a worker waits in each. */
  readonly idle: number
  /** In their order. */
  readonly partitions: readonly QueueInspection[]
}

export class PartitionedSettings {
  readonly #parts: readonly Settings[]

  constructor(parts: readonly Settings[]) {
    this.#parts = parts
  }

  /** Gives out no more jobs; those at work go on. */
  pause(): Promise<void> {
    return this.#each((settings) => settings.pause())
  }

  /** Gives out jobs again; groups that are paused stay so. */
  resume(): Promise<void> {
    return this.#each((settings) => settings.resume())
  }

  /**
   * Sets what is named, for all who use the queue: each partition has its share of the concurrency, the rate and
   * what is kept. Throws InvalidArgumentError for less than one for each.
   */
  async set(settings: QueueSettings): Promise<void> {
    const shares = this.#parts.map((_, at) => shareOf(settings, at, this.#parts.length))
    await this.#each((each, at) => each.set(shares[at] as QueueSettings))
  }

  /** Gives out no more jobs of a group. Resolves to what holds for it now. Throws InvalidArgumentError. */
  pauseGroup(group: string): Promise<GroupInspection> {
    return this.#ofGroup(group, (settings) => settings.pauseGroup(group))
  }

  /** Gives out jobs of a group again. Resolves to what holds for it now. Throws InvalidArgumentError. */
  resumeGroup(group: string): Promise<GroupInspection> {
    return this.#ofGroup(group, (settings) => settings.resumeGroup(group))
  }

  /** Sets what is named, for a group, undivided. Resolves to its picture. Throws InvalidArgumentError. */
  setGroup(group: string, settings: Throttle): Promise<GroupInspection> {
    return this.#ofGroup(group, (each) => each.setGroup(group, settings))
  }

  async #each(call: (settings: Settings, at: number) => Promise<void>): Promise<void> {
    await Promise.all(this.#parts.map(call))
  }

  async #ofGroup(
    group: string,
    call: (settings: Settings) => Promise<GroupInspection>,
  ): Promise<GroupInspection> {
    const home = partitionOf(checkText('group', group, 512), this.#parts.length, 'group')
    return call(this.#parts[home] as Settings)
  }
}

export function inspectionOf(partitions: readonly QueueInspection[]): PartitionedQueueInspection {
  const { codec: _, ...counts } = partitions.reduce(added)
  return { ...counts, partitions }
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
    beganAtMs: earlier(one.beganAtMs, other.beganAtMs),
    oldestAtMs: earlier(one.oldestAtMs, other.oldestAtMs),
    paused: one.paused && other.paused,
    rateWindowMs: Math.max(one.rateWindowMs, other.rateWindowMs),
    keepMs: Math.max(one.keepMs, other.keepMs),
    idle: Math.max(one.idle, other.idle),
  }
}

/** Throws InvalidArgumentError. */
function shareOf(settings: QueueSettings, at: number, count: number): QueueSettings {
  checkOptions('settings', settings, ['concurrency', 'rate', 'keep'])
  const { concurrency, rate, keep } = settings
  const part = (argument: string, total: number): number => {
    checkInteger(argument, total, count, Number.MAX_SAFE_INTEGER)
    return Math.floor(total / count) + (at < total % count ? 1 : 0)
  }
  const shares = { ...settings }
  if (typeof concurrency === 'number') shares.concurrency = part('concurrency', concurrency)
  if (typeof rate?.limit === 'number') shares.rate = { ...rate, limit: part('rate.limit', rate.limit) }
  if (typeof rate?.burst === 'number')
    shares.rate = { ...rate, ...shares.rate, burst: part('rate.burst', rate.burst) }
  if (typeof keep?.count === 'number') shares.keep = { ...keep, count: part('keep.count', keep.count) }
  return shares
}
