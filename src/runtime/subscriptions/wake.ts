// Waiting without polling. A process listens on the channel of the data it waits for; every change publishes there. A
// wake-up without a sleeper is kept for the next one. A lost connection wakes all sleepers, because a wake-up may have
// been missed.

import type { Driver } from '../../driver.ts'
import { Sleeper } from '../time/sleeper.ts'
import { type Ear, Ears } from './ear.ts'
import { SharedSubscription } from './shared-subscription.ts'

export class Wakes {
  readonly #driver: Pick<Driver, 'subscribe'>
  readonly #channels = new Map<string, Channel>()

  constructor(driver: Pick<Driver, 'subscribe'>) {
    this.#driver = driver
  }

  /** Listens on one channel, or on several; resolves when the server has confirmed. `close` the watch when done. */
  async watch(names: string | readonly string[]): Promise<Watch> {
    const channels = [names].flat().map((name) => this.#channel(name))
    const watch = new Watch(channels, (left) => channels.forEach((channel) => channel.leave(left)))
    try {
      await Promise.all(channels.map((channel) => channel.enter(watch)))
    } catch (error) {
      watch.close()
      throw error
    }
    return watch
  }

  /** Waiters look again. Not awaited: a half-open connection never confirms. */
  close(): void {
    for (const channel of this.#channels.values()) channel.close()
  }

  #channel(name: string): Channel {
    const known = this.#channels.get(name)
    if (known !== undefined) return known
    const channel = new Channel(this.#driver, name, () => this.#forget(name, channel))
    this.#channels.set(name, channel)
    return channel
  }

  #forget(name: string, channel: Channel): void {
    // A late failure or end must not remove the successor.
    if (this.#channels.get(name) === channel) this.#channels.delete(name)
  }
}

/** One waiter. */
export class Watch extends Ears {
  readonly #leave: () => void
  #woken = false
  readonly #sleeper = new Sleeper()

  constructor(channels: readonly Ear[], leave: (watch: Watch) => void) {
    super(channels)
    this.#leave = () => leave(this)
  }

  /** Resolves at the next wake-up, at once if one came since the last sleep, or after `ms`. */
  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    if (!this.#woken) await this.#sleeper.sleep(ms, signal)
    this.#woken = false
    signal?.throwIfAborted()
  }

  wake(): void {
    this.#woken = true
    this.#sleeper.wake()
  }

  close(): void {
    this.#leave()
  }
}

class Channel implements Ear {
  readonly #subscription: SharedSubscription
  readonly #watches = new Set<Watch>()

  constructor(driver: Pick<Driver, 'subscribe'>, name: string, forget: () => void) {
    const wakeAll = (): void => this.#wakeAll()
    // A short loss needs no wake-up: `onGap` follows and covers what was missed.
    const events = { onMessage: wakeAll, onGone: wakeAll, onGap: wakeAll, onOver: forget }
    this.#subscription = new SharedSubscription(driver, name, events)
  }

  get isHeard(): boolean {
    return this.#subscription.isHeard
  }

  get isGone(): boolean {
    return this.#subscription.isGone
  }

  /** Resolves when the server has confirmed the subscription. All watches get a failure; the next one retries. */
  async enter(watch: Watch): Promise<void> {
    this.#watches.add(watch)
    this.#subscription.enter()
    try {
      await this.#subscription.opened
    } catch (error) {
      this.leave(watch)
      throw error
    }
  }

  leave(watch: Watch): void {
    if (this.#watches.delete(watch)) this.#subscription.leave()
  }

  close(): void {
    this.#wakeAll()
    this.#subscription.end()
  }

  #wakeAll(): void {
    for (const watch of this.#watches) watch.wake()
  }
}
