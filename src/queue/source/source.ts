import type { Unit } from '../../runtime/connection/unit.ts'
import type { Agreement } from '../../runtime/partitions/agreement.ts'
import type { Codec } from '../../runtime/values/codec.ts'
import type { Chores } from './chores.ts'
import type { PayloadChecks } from './schemas.ts'

/** What the parts of one queue share. */
export interface QueueSource {
  readonly unit: Unit
  readonly codec: Codec<unknown>
  /** As `codec`, and says `result` of what it cannot hold. */
  readonly results: Codec<unknown>
  /** What people call it, for errors. */
  readonly name: string
  /** For how many calls the quick way to claim is not tried. */
  readonly pace: { slowly: number }
  readonly chores: Chores
  /** What other queues call it, and this partition of it. */
  readonly address: string
  /** Another queue by its address, with the same codec. */
  sibling(address: string): QueueSource
  /** Null: any payload will do. */
  readonly checks: PayloadChecks | null
  /** Over how many partitions the queue is spread, for scripts; 0: it is not. */
  readonly spread: number
  /** That number, as all have to say it; null: the queue has none. */
  readonly agreement: Agreement | null
  /** Which partition of the queue it is; null: the queue has none. */
  readonly partition: number | null
  /** How many the queue has; 1 where it has none. */
  readonly partitions: number
}

// What jobs are called that have no id of their own: by their number, in a queue with partitions after that of theirs,
// `3-1763791234567890`.

const IN_PARTITION = /^(\d{1,2})-(\d+)$/

export function toId({ partition }: Pick<QueueSource, 'partition'>, number: number | string): string {
  return partition === null ? String(number) : `${partition}-${number}`
}

const MILLION = 1_000_000

/**
 * Of numbers one after the other, from a million on: they are microseconds since 1970. The engine takes long to write large
 * numbers, and most share all but the last digits.
 */
export function toIds(source: Pick<QueueSource, 'partition'>, first: number, count: number): string[] {
  const ids: string[] = []
  let millions = Math.floor(first / MILLION)
  let rest = first - millions * MILLION
  let beginning = toId(source, millions)
  for (let at = 0; at < count; at++, rest++) {
    if (rest === MILLION) {
      millions += 1
      rest = 0
      beginning = toId(source, millions)
    }
    ids.push(beginning + String(MILLION + rest).slice(1))
  }
  return ids
}

/** Null for a job's own id: it does not tell the partition. */
export function placeOf(id: string): { partition: number; number: string } | null {
  const match = IN_PARTITION.exec(id)
  return match === null ? null : { partition: Number(match[1]), number: String(match[2]) }
}

/** Whether a job's own id could be taken for one that a queue in partitions gives. */
export function looksGiven(id: string): boolean {
  return IN_PARTITION.test(id)
}

// What queues call each other, in their outboxes and where they ask after dependencies: by name, a partition by the name of its
// queue, its number and how many there are.

/** Which partition it is of how many. */
export interface QueuePartition {
  readonly number: number
  readonly count: number
}

export interface Address {
  readonly name: string
  /** Null: the queue has none. */
  readonly partition: QueuePartition | null
}

// No name of a queue has a control character.
const MARK = '\x02'

export function toAddress({ name, partition }: Address): string {
  return partition === null ? name : `${name}${MARK}${partition.number}/${partition.count}`
}

export function readAddress(address: string): Address {
  const [name = '', place] = address.split(MARK)
  if (place === undefined) return { name, partition: null }
  const [number = 0, count = 1] = place.split('/').map(Number)
  return { name, partition: { number, count } }
}
