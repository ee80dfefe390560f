// Waiting without polling. A process listens on the channel of what it waits for; whoever changes it
// publishes there. A wake that comes while nobody is asleep is kept for the next sleeper, and a lost
// connection wakes everybody, for a wake may have been missed.

import type { Driver, Subscription } from '../../driver.ts'
import { type Ear, Ears, Hearing } from './hearing.ts'
import { Sleeper } from '../time/sleeper.ts'

// A channel is kept for a while after its last sleeper: long polls come back at once.
const LINGER_MS = 5000

export class Wakes {
  readonly #driver: Pick<Driver, 'subscribe'>
  readonly #channels = new Map<string, Channel>()

  constructor(driver: Pick<Driver, 'subscribe'>) {
    this.#driver = driver
  }

  /**
   * Listens on a channel, or on several at once; resolves when the server has confirmed. `close` the watch
   * when done.
   */
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

  /** Whoever waits looks again. Not awaited: a connection that is half open never confirms. */
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
    // One that failed or ended late must not take its successor along.
    if (this.#channels.get(name) === channel) this.#channels.delete(name)
  }
}

/** One who waits. */
export class Watch extends Ears {
  readonly #leave: () => void
  #woken = false
  readonly #sleeper = new Sleeper()

  constructor(channels: readonly Ear[], leave: (watch: Watch) => void) {
    super(channels)
    this.#leave = () => leave(this)
  }

  /** Resolves at the next wake, or at one that came since the last sleep, or after `ms`. */
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
  readonly #subscription: Promise<Subscription>
  readonly #watches = new Set<Watch>()
  readonly #forget: () => void
  /** A short loss goes by unseen, as what may have been missed is looked for behind it. */
  readonly #hearing = new Hearing(() => this.#wakeAll())
  #linger: NodeJS.Timeout | null = null

  constructor(driver: Pick<Driver, 'subscribe'>, name: string, forget: () => void) {
    this.#forget = forget
    this.#subscription = driver.subscribe(name, {
      onMessage: () => this.#wakeAll(),
      onLost: () => this.#hearing.lose(),
      onGap: () => this.#hearAgain(),
    })
    // Whoever watches sees the failure; the next one tries again.
    this.#subscription.catch(forget)
  }

  get isHeard(): boolean {
    return this.#hearing.isHeard
  }

  get isGone(): boolean {
    return this.#hearing.isGone
  }

  /** Resolves when the server has confirmed the subscription. */
  async enter(watch: Watch): Promise<void> {
    if (this.#linger !== null) clearTimeout(this.#linger)
    this.#linger = null
    this.#watches.add(watch)
    try {
      await this.#subscription
    } catch (error) {
      this.#watches.delete(watch)
      throw error
    }
  }

  leave(watch: Watch): void {
    if (!this.#watches.delete(watch) || this.#watches.size > 0) return
    this.#linger = setTimeout(() => void this.#unsubscribe(), LINGER_MS)
    this.#linger.unref()
  }

  close(): void {
    if (this.#linger !== null) clearTimeout(this.#linger)
    this.#wakeAll()
    void this.#unsubscribe()
  }

  async #unsubscribe(): Promise<void> {
    this.#hearing.close()
    this.#forget()
    // A subscription that cannot be ended is gone with its connection.
    await this.#subscription.then((subscription) => subscription.close()).catch(() => undefined)
  }

  #hearAgain(): void {
    this.#hearing.hear()
    this.#wakeAll()
  }

  #wakeAll(): void {
    for (const watch of this.#watches) watch.wake()
  }
}
