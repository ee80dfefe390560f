// One subscription shared by all users of a channel in this process.
//
//   OPENING ──the server has confirmed──► READY ──its connection breaks──► LOST ──restored──► READY
//      │                                    │                               │
//      └─────────rejected───────┐     without users for five seconds        │
//                               ▼           ▼                               ▼
//                              OVER ◄───────┴────────── end() ──────────────┘
//
// OVER is final: the next user opens another subscription.

import type { Driver, Subscription } from '../../driver.ts'
import { startTimer, type Timer } from '../time/timer.ts'
import { type Ear, Hearing } from './ear.ts'

/** How long it is kept after the last user: frequent users return soon. */
const LINGER_MS = 5000

export interface SharedSubscriptionEvents {
  onMessage(message: string): void
  /** The connection has broken: messages are missed from now on. */
  onLost?(): void
  /** The connection has been broken for so long that it may never be restored. */
  onGone?(): void
  /** The connection is restored: messages may have been missed. */
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

  /** Adds a user, until it leaves. */
  enter(): void {
    this.#users += 1
  }

  leave(): void {
    this.#users -= 1
    if (this.#users > 0 || this.#state === 'over') return
    this.#unusedSince = performance.now()
    this.#linger ??= this.#lookIn(LINGER_MS)
  }

  /** Not awaited: a half-open connection never confirms, and an unended subscription ends with its connection. */
  end(): void {
    if (this.#state === 'over') return
    const wasReady = this.isReady
    this.#state = 'over'
    this.#linger?.cancel()
    this.#hearing.close()
    this.#subscription.then((subscription) => subscription.close()).catch(() => undefined)
    this.#events.onOver(wasReady)
  }

  /** Uses one timer, however often the last user leaves. */
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

  #unlessOver(notify: () => void): void {
    if (this.#state !== 'over') notify()
  }
}
