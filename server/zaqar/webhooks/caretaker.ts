// Maintains the subscriptions of a queue: gives a turn to those with remaining pushes, removes expired ones, and
// removes pushes that all have passed. It runs after a post, then less and less often as long as pushes are left, and
// once an hour as long as there are subscriptions: so anything missed is found again.

import { BoundedMap } from '../../process/bounded-map.ts'
import { feedName, type QueuePlace } from '../queues/place.ts'
import type { Agenda, PushTarget } from './agenda.ts'
import { reachedBy } from './position.ts'
import type { Pushes, PushesEnd, Trimmed } from './pushes.ts'
import { endOf, isActive, isOver, MAX_OPEN, type QueueSubscription } from '../subscriptions/subscription.ts'
import type { QueueSubscriptions } from '../subscriptions/subscriptions.ts'

export interface CaretakerParts {
  readonly subscriptions: QueueSubscriptions
  readonly pushes: Pushes
  readonly agenda: Agenda
}

interface Found {
  readonly active: readonly { readonly id: string; readonly subscription: QueueSubscription }[]
  /** When the first live one expires; Infinity: none is live. */
  readonly endsAtMs: number
  readonly areSomeOver: boolean
}

const HOUR_MS = 3_600_000
const FIRST_ROUND_MS = 1000
const LAST_ROUND_MS = 60_000
// The shortest time between two runs for a queue with many posts.
const LEAST_MS = 50
const KNOWN_QUEUES = 10_000

export class Caretaker {
  readonly #parts: CaretakerParts
  readonly #tendedAt = new BoundedMap<number>(KNOWN_QUEUES)

  constructor(parts: CaretakerParts) {
    this.#parts = parts
  }

  async tend(place: QueuePlace, round: number): Promise<void> {
    const { subscriptions, pushes, agenda } = this.#parts
    const tooEarlyMs = this.#begin(place)
    if (tooEarlyMs > 0) return agenda.tendAfter(place, round, tooEarlyMs)
    // First the end, then the subscriptions: a subscription made meanwhile gets no message that may be removed now.
    const end = await pushes.end(place)
    const nowMs = await subscriptions.clock.nowMs()
    const found = await this.#find(place, nowMs)
    // Before anything that needs room: a full server accepts no more jobs, and no lock, until something was removed.
    const trimmed = await pushes.trim(place, floorOf(found, end))
    await agenda.push(
      place,
      found.active.flatMap(({ id, subscription }) => targetOf(id, subscription, end, nowMs)),
    )
    if (found.areSomeOver) await subscriptions.tidy(place)
    const next = nextOf(found, end, trimmed, { round, nowMs })
    if (next !== null) await agenda.tendLater(place, next.round, next.delayMs)
  }

  /** Milliseconds until it may run again; 0: now. */
  #begin(place: QueuePlace): number {
    const now = performance.now()
    const before = this.#tendedAt.get(feedName(place)) ?? -Infinity
    if (now - before < LEAST_MS) return LEAST_MS - (now - before)
    this.#tendedAt.set(feedName(place), now)
    return 0
  }

  async #find(place: QueuePlace, nowMs: number): Promise<Found> {
    const active: { id: string; subscription: QueueSubscription }[] = []
    let [endsAtMs, areSomeOver] = [Infinity, false]
    for await (const entry of this.#parts.subscriptions.each(place)) {
      const { subscription } = entry
      if (isOver(subscription, nowMs)) areSomeOver = true
      else endsAtMs = Math.min(endsAtMs, endOf(subscription))
      if (isActive(subscription, nowMs)) active.push(entry)
    }
    return { active, endsAtMs, areSomeOver }
  }
}

/** None if it has no remaining pushes. */
function targetOf(
  id: string,
  { key, progress }: QueueSubscription,
  end: PushesEnd,
  nowMs: number,
): PushTarget[] {
  const { open, marker, slow } = progress
  const isBehind = open.length < MAX_OPEN && reachedBy(marker, end.position) < end.position.at
  if (!isBehind && open.length === 0) return []
  const delayMs = isBehind ? 0 : Math.min(...open.map(({ dueAtMs }) => dueAtMs)) - nowMs
  return [{ subscription: id, key, isSlow: slow, delayMs, hurries: isBehind }]
}

/** Pushes up to here are not needed any more. */
function floorOf({ active }: Found, { position }: PushesEnd): number {
  const reached = active.flatMap(({ subscription: { progress } }) => [
    reachedBy(progress.marker, position),
    ...progress.open.map(({ marker }) => reachedBy(marker, position) - 1),
  ])
  return Math.min(position.at, ...reached)
}

function nextOf(
  { endsAtMs }: Found,
  { delayedUntilMs }: PushesEnd,
  { left, more }: Trimmed,
  { round, nowMs }: { round: number; nowMs: number },
): { round: number; delayMs: number } | null {
  const whileLeft = Math.min(FIRST_ROUND_MS * 2 ** round, LAST_ROUND_MS)
  const delayed = delayedUntilMs === null ? Infinity : delayedUntilMs - nowMs
  const idle = endsAtMs === Infinity ? Infinity : Math.min(endsAtMs - nowMs, HOUR_MS)
  const delayMs = Math.min(more ? LEAST_MS : left ? whileLeft : Infinity, delayed, idle)
  // A little later than planned: by then it is over, or visible, by every clock.
  return delayMs === Infinity
    ? null
    : { round: left ? round + 1 : 0, delayMs: Math.max(LEAST_MS, delayMs + 1) }
}
