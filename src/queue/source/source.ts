import type { Unit } from '../../runtime/connection/unit.ts'
import type { Agreement } from '../../runtime/partitions/agreement.ts'
import type { Codec } from '../../runtime/values/codec.ts'
import type { Chores } from './chores.ts'
import type { PayloadChecks } from './schemas.ts'

/** Everything that the parts of one queue share. */
export interface QueueSource {
  readonly unit: Unit
  readonly codec: Codec<unknown>
  /** As `codec`, but its errors name `result`. */
  readonly results: Codec<unknown>
  /** The user's name of the queue, for errors. */
  readonly name: string
  /** For how many more calls the fast path of claims is not tried. */
  readonly pace: { slowly: number }
  readonly chores: Chores
  /** The address of this queue or partition for other queues. */
  readonly address: string
  /** Another queue by its address, with the same codec. */
  sibling(address: string): QueueSource
  /** Null without schemas. */
  readonly checks: PayloadChecks | null
  /** The number of partitions, for scripts; 0 without partitions. */
  readonly spread: number
  /** Makes all clients use the same number of partitions; null without partitions. */
  readonly agreement: Agreement | null
  /** The index of this partition; null without partitions. */
  readonly partition: number | null
  /** The number of partitions; 1 without partitions. */
  readonly partitions: number
}

// The ids of jobs that have none of their own: their number, preceded by the partition in a partitioned queue, such as
// `3-1763791234567890`.

const IN_PARTITION = /^(\d{1,2})-(\d+)$/

export function toId({ partition }: Pick<QueueSource, 'partition'>, number: number | string): string {
  return partition === null ? String(number) : `${partition}-${number}`
}

const MILLION = 1_000_000

/**
 * The ids of consecutive numbers, which are microseconds since 1970, and at least a million. JavaScript formats large
 * numbers slowly, and most of them share all but the last digits.
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

/** Null for a job's own id, which does not name the partition. */
export function placeOf(id: string): { partition: number; number: string } | null {
  const match = IN_PARTITION.exec(id)
  return match === null ? null : { partition: Number(match[1]), number: String(match[2]) }
}

/** Whether a job's own id looks like one that a partitioned queue assigns. */
export function looksGiven(id: string): boolean {
  return IN_PARTITION.test(id)
}

// The addresses of queues, in outboxes and in questions about dependencies: the name, for a partition followed by its
// index and the number of partitions.

/** The index of a partition and the number of partitions. */
export interface QueuePartition {
  readonly number: number
  readonly count: number
}

export interface Address {
  readonly name: string
  /** Null without partitions. */
  readonly partition: QueuePartition | null
}

// Names of queues have no control characters.
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
