// A subscription as it is stored. Its options stand beside it: they may be large, and few need them.

export interface QueueSubscription {
  /** Where messages are pushed: an http or https URL. */
  readonly subscriber: string
  /** Seconds. */
  readonly ttl: number
  /** Until its receiver has confirmed it, a subscription gets no messages. */
  readonly confirmed: boolean
  /** As the project's own header has it; a confirmation must carry it. */
  readonly project: string
  /** Drawn for each subscriber anew: what waits for another one of the same id is not for this one. */
  readonly key: string
  /** Of the server's clock, as all instants here. */
  readonly startedAtMs: number
  readonly hasOptions: boolean
  readonly progress: Progress
}

/** How far its pushes have come. */
export interface Progress {
  /** Behind what has been read of the pushes of its queue; empty: nothing has. */
  readonly marker: string
  /** The end of those pushes when it was confirmed: what was posted before, and may become visible later, is not for it. */
  readonly since: string
  /** Pushes that were read and failed so far, to be tried again; at most MAX_OPEN. */
  readonly open: readonly OpenPush[]
  /** Whether its receiver took long over the newest letter, or has not taken any yet. */
  readonly slow: boolean
  /** Which turn works on it, so that one that was overtaken changes nothing any more. */
  readonly turn: string
}

export interface OpenPush {
  /** Of the push, and where it stands among those of its queue. */
  readonly id: string
  readonly marker: string
  /** How often it has been tried. */
  readonly tries: number
  readonly dueAtMs: number
}

/** A subscriber that fails has so many pushes tried again beside new ones; then those behind them wait. */
export const MAX_OPEN = 64

export const nothingPushed: Progress = { marker: '', since: '', open: [], slow: true, turn: '' }

export interface SubscriptionEntry {
  readonly id: string
  readonly subscription: QueueSubscription
}

/** Those to whom messages are pushed. */
export function isActive(subscription: QueueSubscription, nowMs: number): boolean {
  return subscription.confirmed && !isOver(subscription, nowMs)
}

export function isOver(subscription: QueueSubscription, nowMs: number): boolean {
  return endOf(subscription) <= nowMs
}

export function endOf({ startedAtMs, ttl }: QueueSubscription): number {
  return startedAtMs + ttl * 1000
}

/** Seconds since it began, or since its life was last prolonged. */
export function ageOf({ startedAtMs }: QueueSubscription, nowMs: number): number {
  return Math.max(0, Math.floor((nowMs - startedAtMs) / 1000))
}
