// Sends pushes to one subscriber for a turn. The subscription stores how far the pushes of its queue were read, and
// which of those failed so far. A batch is read, sent, and recorded as a whole: if a process dies in between, another
// one sends it again, perhaps for the second time. A turn is short, so that subscribers take turns; the rest is left to
// the next one.

import { randomUUID } from 'node:crypto'
import type { QueuePlace } from '../queues/place.ts'
import { type Agenda, isStoreFull, type PushTarget, type WebhookTurn } from './agenda.ts'
import { Budget, type BudgetShare } from './budget.ts'
import { type GivenUpPushes, giveUp } from './given-up.ts'
import { cameAfter, reachedBy } from './position.ts'
import type { Push, Pushes } from './pushes.ts'
import type { Addressee, LetterResult, LetterSender } from './letter-sender.ts'
import {
  MAX_OPEN,
  type OpenPush,
  type Progress,
  type QueueSubscription,
} from '../subscriptions/subscription.ts'
import type { QueueSubscriptions } from '../subscriptions/subscriptions.ts'

export interface CourierParts {
  readonly subscriptions: QueueSubscriptions
  readonly pushes: Pushes
  readonly agenda: Agenda
  /** Concurrent pushes of one subscription. */
  readonly concurrency: number
  /** Largest size of one push. */
  readonly maxPushBytes: number
  readonly address: (
    turn: WebhookTurn,
    subscription: QueueSubscription,
    letters: Budget,
  ) => Promise<Addressee>
  readonly sender: LetterSender
  readonly deadLetters: GivenUpPushes
}

/** A push whose turn it is: to be sent, or to become a dead letter. */
interface Try {
  readonly push: Push
  readonly tries: number
  readonly unstored: number | undefined
}

interface Batch {
  readonly tries: readonly Try[]
  /** Of the pushes to be retried, missing ones are left out. */
  readonly rest: readonly OpenPush[]
  readonly marker: string
  readonly share: BudgetShare
}

// Turns end after this time, unless a subscriber takes longer.
const TURN_MS = 500
// Bytes of the pushes in memory, and as many of the letters: for fast and for slow subscribers.
const BUDGET = 8 * 1024 * 1024
// One page of a feed.
const MAX_PAGE_BYTES = 4 * 1024 * 1024

const newBudgets = (): { pages: Budget; letters: Budget } => ({
  pages: new Budget(BUDGET),
  letters: new Budget(BUDGET),
})

export class Courier {
  readonly #parts: CourierParts
  readonly #quick = newBudgets()
  readonly #slow = newBudgets()

  constructor(parts: CourierParts) {
    this.#parts = parts
  }

  /** Sends the pushes that are due, and schedules a turn for the rest. Throws the reason of the job's signal. */
  async takeTurn(given: WebhookTurn): Promise<void> {
    const { place, subscription: id, isSlow } = given
    const { subscriptions, address } = this.#parts
    const turn = randomUUID()
    const begun = await subscriptions.change(place, id, (known) => withProgress(known, { turn }))
    if (begun === null || !begun.confirmed) return
    let { progress } = begun
    const pace = progress.unmoved === true ? progress.slow : isSlow
    if (progress.slow === pace) {
      const addressee = await address({ ...given, isSlow: pace }, begun, this.#budgetsOf(pace).letters)
      const carried = await this.#carry(addressee, pace)
      if (carried === null) return
      progress = carried
    }
    await this.#handOn(given, { ...begun, progress })
  }

  /** The rest is left to the next turn. */
  async #handOn(turn: WebhookTurn, subscription: QueueSubscription): Promise<void> {
    const { place, subscription: id, isSlow, job } = turn
    const next = await this.#next(place, id, subscription)
    if (next === null) {
      await job.ack()
    } else if (next.isSlow === isSlow) {
      await this.#parts.agenda.nextTurn(turn, next)
    } else if (await this.#moved(place, next)) {
      await job.ack()
    } else {
      // The turn continues, at the pace of the other queue: its sent pushes make room.
      await this.#note({ place, id }, { ...subscription.progress, unmoved: true })
      await job.release({ delay: '100ms' })
      return
    }
    if (next?.hurries) return
    // A post until then may have relied on this turn.
    const news = await this.#next(place, id, subscription)
    if (news !== null && (next === null || news.hurries)) await this.#parts.agenda.pushOrTend(place, news)
  }

  /** False if the server is out of memory. */
  async #moved(place: QueuePlace, next: PushTarget): Promise<boolean> {
    try {
      await this.#parts.agenda.push(place, [next])
      return true
    } catch (error) {
      if (isStoreFull(error)) return false
      throw error
    }
  }

  /** Null if the subscription was removed, or another turn has taken over. */
  async #carry(to: Addressee, isSlow: boolean): Promise<Progress | null> {
    const endsAt = performance.now() + TURN_MS
    let { progress } = to.subscription
    for (;;) {
      const next = await this.#carryBatch(to, progress, isSlow)
      if (next === progress) return progress
      if (!(await this.#note(to, next))) return null
      progress = next
      if (performance.now() >= endsAt || progress.slow !== isSlow) return progress
    }
  }

  /** The same progress if there was nothing to do. */
  async #carryBatch(to: Addressee, progress: Progress, isSlow: boolean): Promise<Progress> {
    const batch = await this.#nextBatch(to, progress, isSlow)
    try {
      if (batch.tries.length === 0) return passedOver(progress, batch)
      const tried = await Promise.all(batch.tries.map((each) => this.#send(to, each)))
      return await this.#settle(to, progress, batch, tried)
    } finally {
      batch.share.release()
    }
  }

  /** Null if it was given up before. */
  async #send(to: Addressee, { push, unstored }: Try): Promise<LetterResult | null> {
    return unstored === undefined ? this.#parts.sender.send(to, push.body) : null
  }

  /** Retries first, and then new pushes, as long as not too many have failed. */
  async #nextBatch(to: Addressee, progress: Progress, isSlow: boolean): Promise<Batch> {
    const { subscriptions, pushes, concurrency, maxPushBytes } = this.#parts
    const nowMs = await subscriptions.clock.nowMs()
    const due = progress.open.filter(({ dueAtMs }) => dueAtMs <= nowMs).slice(0, concurrency)
    const rest = progress.open.filter((open) => !due.includes(open))
    const room = Math.min(concurrency - due.length, MAX_OPEN - progress.open.length)
    const most = Math.min((due.length + Math.max(0, room)) * maxPushBytes, MAX_PAGE_BYTES + maxPushBytes)
    const share = await this.#budgetsOf(isSlow).pages.take(to.place.tenant.scope, most, to.signal)
    try {
      const again =
        due.length === 0
          ? []
          : await pushes.get(
              to.place,
              due.map(({ id }) => id),
            )
      const page = room <= 0 ? null : await pushes.read(to.place, progress.marker, room)
      const fresh = (page?.messages ?? []).filter((push) => cameAfter(push, progress.since))
      const known = new Map(due.map((open) => [open.id, open]))
      const all = [...again, ...fresh].map((push) => {
        const { tries = 0, unstored } = known.get(push.id) ?? {}
        return { push, tries, unstored }
      })
      share.shrinkTo(all.reduce((bytes, { push }) => bytes + Buffer.byteLength(push.body), 0))
      return { tries: all, rest, marker: page?.next ?? progress.marker, share }
    } catch (error) {
      share.release()
      throw error
    }
  }

  async #settle(
    to: Addressee,
    progress: Progress,
    { tries, rest, marker }: Batch,
    tried: readonly (LetterResult | null)[],
  ): Promise<Progress> {
    const nowMs = await this.#parts.subscriptions.clock.nowMs()
    const open = [...rest]
    for (const [at, { push, tries: before, unstored }] of tries.entries()) {
      const { result, why = '' } = tried[at] ?? {}
      if (result === 'delivered') continue
      const again = { id: push.id, marker: push.cursor ?? '', tries: before }
      const delay = result === 'failed' ? to.delays[before] : undefined
      // A push that was cut off does not count as a try: in the slow queue it has its full time.
      if (result === 'late') open.push({ ...again, dueAtMs: nowMs })
      else if (delay !== undefined) open.push({ ...again, tries: before + 1, dueAtMs: nowMs + delay * 1000 })
      else {
        const given = await giveUp(this.#parts.deadLetters, to, push, { why, before: unstored })
        if (given !== null) open.push({ ...again, unstored: given.unstored, dueAtMs: nowMs + given.pauseMs })
      }
    }
    const sent = tried.filter((each) => each !== null)
    return {
      ...progress,
      marker,
      open,
      unmoved: false,
      slow: sent.length === 0 ? progress.slow : sent.some((each) => each.slow),
    }
  }

  async #note({ place, id }: Pick<Addressee, 'place' | 'id'>, progress: Progress): Promise<boolean> {
    const kept = await this.#parts.subscriptions.change(place, id, (known) =>
      known.progress.turn === progress.turn ? { ...known, progress } : known,
    )
    return kept !== null && kept.progress.turn === progress.turn
  }

  /** Null if there is nothing to push, now or later. */
  async #next(
    place: QueuePlace,
    id: string,
    { key, progress }: QueueSubscription,
  ): Promise<PushTarget | null> {
    const { subscriptions, pushes } = this.#parts
    const { open, marker, slow } = progress
    const hasRoom = open.length < MAX_OPEN
    const end = hasRoom ? await pushes.visibleEnd(place) : null
    const isNews = end !== null && reachedBy(marker, end) < end.at
    if (!isNews && open.length === 0) return null
    const dueAtMs = Math.min(...open.map((each) => each.dueAtMs))
    const delayMs = isNews ? 0 : dueAtMs - (await subscriptions.clock.nowMs())
    return { subscription: id, key, isSlow: slow, delayMs, hurries: isNews }
  }

  #budgetsOf(isSlow: boolean): { pages: Budget; letters: Budget } {
    return isSlow ? this.#slow : this.#quick
  }
}

function passedOver(progress: Progress, { rest, marker }: Batch): Progress {
  const isSame = marker === progress.marker && rest.length === progress.open.length
  return isSame ? progress : { ...progress, marker, open: rest }
}

function withProgress(subscription: QueueSubscription, changed: Partial<Progress>): QueueSubscription {
  return { ...subscription, progress: { ...subscription.progress, ...changed } }
}
