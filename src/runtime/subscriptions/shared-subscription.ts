// One subscription for all of this process who want to hear one channel.
//
//   OPENING ──the server has confirmed──► READY ──its connection breaks──► LOST ──heard again──► READY
//      │                                    │                               │
//      └─────────refused────────┐  nobody has needed it for five seconds    │
//                               ▼           ▼                               ▼
//                              OVER ◄───────┴────────── end() ──────────────┘
//
// One that is over never comes back: whoever needs it next opens another one.

import type { Driver, Subscription } from '../../driver.ts'
import { startTimer, type Timer } from '../time/timer.ts'
import { type Ear, Hearing } from './ear.ts'

/** It is kept for so long after the last who needed it: those who wait again and again come back at once. */
const LINGER_MS = 5000

export interface SharedSubscriptionEvents {
  onMessage(message: string): void
  /** The connection has broken: from now on messages are missed. */
  onLost?(): void
  /** It has been for so long that nobody knows when it comes back. */
  onGone?(): void
  /** It is there again: messages may have been missed. */
  onGap(): void
  /** It could not be opened, or has ended. Called once. */
  onOver(wasReady: boolean): void
}

export class SharedSubscription implements Ear {
  readonly #subscription: Promise<Subscription>
  readonly #events: SharedSubscriptionEvents
  readonly #hearing: Hearing
  #state: 'opening' | 'ready' | 'over' = 'opening'
  #users = 0
  #unusedSince = 0
  #linger: Timer | null = null

  constructor(driver: Pick<Driver, 'subscribe'>, channel: string, events: SharedSubscriptionEvents) {
    this.#events = events
    this.#hearing = new Hearing(
      events.onGone === undefined ? null : () => this.#unlessOver(() => events.onGone?.()),
    )
    this.#subscription = driver.subscribe(channel, {
      onMessage: (message) => events.onMessage(message),
      onLost: () => this.#unlessOver(() => this.#lose()),
      onGap: () => this.#unlessOver(() => this.#hearAgain()),
    })
    this.#subscription.then(
      () => this.#begin(),
      () => this.end(),
    )
  }

  /** Resolves when the server has confirmed; rejects as the driver does. */
  get opened(): Promise<unknown> {
    return this.#subscription
  }

  get isReady(): boolean {
    return this.#state === 'ready'
  }

  get isHeard(): boolean {
    return this.isReady && this.#hearing.isHeard
  }

  get isGone(): boolean {
    return this.#hearing.isGone
  }

  /** One more who needs it, until it leaves. */
  enter(): void {
    this.#users += 1
  }

  leave(): void {
    this.#users -= 1
    if (this.#users > 0 || this.#state === 'over') return
    this.#unusedSince = performance.now()
    this.#linger ??= this.#lookIn(LINGER_MS)
  }

  /** Not awaited: a connection that is half open never confirms, and a subscription that cannot be ended is gone with it. */
  end(): void {
    if (this.#state === 'over') return
    const wasReady = this.isReady
    this.#state = 'over'
    this.#linger?.cancel()
    this.#hearing.close()
    this.#subscription.then((subscription) => subscription.close()).catch(() => undefined)
    this.#events.onOver(wasReady)
  }

  /** One timer, however often the last one leaves. */
  #lookIn(ms: number): Timer {
    const look = (): void => {
      this.#linger = null
      if (this.#users > 0) return
      const restMs = this.#unusedSince + LINGER_MS - performance.now()
      if (restMs > 0) this.#linger = this.#lookIn(restMs)
      else this.end()
    }
    return startTimer(look, ms).unref()
  }

  #begin(): void {
    if (this.#state === 'opening') this.#state = 'ready'
  }

  #lose(): void {
    this.#hearing.lose()
    this.#events.onLost?.()
  }

  #hearAgain(): void {
    this.#hearing.hear()
    this.#events.onGap()
  }

  #unlessOver(tell: () => void): void {
    if (this.#state !== 'over') tell()
  }
}
