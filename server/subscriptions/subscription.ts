// A subscription as it is stored.

import type { JsonObject } from '../zaqar/body.ts'

export interface Subscription {
  /** Where messages are pushed: an http or https URL. */
  readonly subscriber: string
  /** Seconds. */
  readonly ttl: number
  readonly options: JsonObject
  /** Until its receiver has confirmed it, a subscription gets no messages. */
  readonly confirmed: boolean
  /** As the project's own header has it; a confirmation must carry it. */
  readonly project: string
  /** Drawn for each subscriber anew: what waits for another one of the same id is not pushed to this one. */
  readonly key: string
  /** Of the server's clock, as all instants here. */
  readonly startedAtMs: number
}

export interface SubscriptionEntry {
  readonly id: string
  readonly subscription: Subscription
}

export function isOver({ startedAtMs, ttl }: Subscription, nowMs: number): boolean {
  return startedAtMs + ttl * 1000 <= nowMs
}

/** Seconds since it began, or since its life was last prolonged. */
export function ageOf({ startedAtMs }: Subscription, nowMs: number): number {
  return Math.max(0, Math.floor((nowMs - startedAtMs) / 1000))
}
