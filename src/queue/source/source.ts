import type { Agreement } from '../../runtime/partitions/agreement.ts'
import type { Codec } from '../../runtime/values/codec.ts'
import type { Unit } from '../../runtime/connection/unit.ts'
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
