// The orders to a process of a soak of the queue.

import type { Death } from './death.ts'
import type { QueuePlace } from './place.ts'
import type { SoakKind } from './plan.ts'

export interface PartyOrder {
  readonly by: string
  readonly kind: SoakKind
  /** Perhaps a proxy; the log goes straight to a server. */
  readonly place: QueuePlace
  readonly logPort: number
  readonly queues: Readonly<Record<'main' | 'after', string>>
  readonly seed: number
  readonly produces: number
  /** The number of concurrent producers. */
  readonly producers: number
  readonly poison: boolean
  readonly leaseMs: number
  /** When calls settle at the latest. */
  readonly deadlineMs: number
  /** Whether it also takes jobs without watching their leases, some for too long. */
  readonly borrows: boolean
  /** Whether it cancels some of the jobs that it has enqueued. */
  readonly cancels: boolean
  readonly prefetch: number
  /** The broken rule of the scripts, by its description. */
  readonly sabotage: string | null
  readonly dies: Death | null
}

export const NAMESPACE = 'queue-soak'
export const logKeyOf = (queue: string): string => `${NAMESPACE}:log:${queue}`
