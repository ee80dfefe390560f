// A subscription as it is stored. Its options are stored separately: they may be large, and few calls need them.

export interface QueueSubscription {
  /** Where messages are pushed: an http or https URL. */
  readonly subscriber: string
  /** Seconds. */
  readonly ttl: number
  /** A subscription gets no messages until its receiver has confirmed it. */
  readonly confirmed: boolean
  /** The project's own header; a confirmation must have it. */
  readonly project: string
  /** A new random key for each subscriber: work that waits for an earlier one of the same id is not for this one. */
  readonly key: string
  /** On the server's clock, like all times here. */
  readonly startedAtMs: number
  readonly hasOptions: boolean
  readonly progress: Progress
}

/** The progress of its pushes. */
export interface Progress {
  /** After the pushes of its queue that were read; empty: none were. */
  readonly marker: string
  /**
   * The end of those pushes at its confirmation: messages posted before, which may become visible later, are not for
   * it.
   */
  readonly since: string
  /** Pushes that were read, and failed so far or wait for room for their dead letters; at most MAX_OPEN. */
  readonly open: readonly OpenPush[]
  /** Whether its receiver was slow with the newest letter, or has not accepted any yet. */
  readonly slow: boolean
  /** The other queue had no room for its turn, which continues at the pace of that queue. */
  readonly unmoved?: boolean
  /** The turn that works on it, so that a turn that was replaced changes nothing any more. */
  readonly turn: string
}

export interface OpenPush {
  /** The push, and its position among those of its queue. */
  readonly id: string
  readonly marker: string
  /** Number of tries. */
  readonly tries: number
  readonly dueAtMs: number
  /** It was given up and is not sent any more; how often its dead letter could not be stored. */
  readonly unstored?: number
}

/** A failing subscriber has so many pushes retried next to new ones; after that, later pushes wait. */
export const MAX_OPEN = 64

export const nothingPushed: Progress = { marker: '', since: '', open: [], slow: true, turn: '' }

export interface SubscriptionEntry {
  readonly id: string
  readonly subscription: QueueSubscription
}

/** The subscriptions that get pushes. */
export function isActive(subscription: QueueSubscription, nowMs: number): boolean {
  return subscription.confirmed && !isOver(subscription, nowMs)
}

export function isOver(subscription: QueueSubscription, nowMs: number): boolean {
  return endOf(subscription) <= nowMs
}

export function endOf({ startedAtMs, ttl }: QueueSubscription): number {
  return startedAtMs + ttl * 1000
}

/** Seconds since it began, or since its life was last extended. */
export function ageOf({ startedAtMs }: QueueSubscription, nowMs: number): number {
  return Math.max(0, Math.floor((nowMs - startedAtMs) / 1000))
}
