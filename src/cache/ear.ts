// Where a level hears what counts no more (lua/shared/cache/messages). On one node all levels listen on one channel, on a
// cluster there is one for each key and tag: who tells and who listens meet on the node that holds it.
//
//   opening ──confirmed──ready──the connection is lost, or nobody needs it──over
//
// One that is over never comes back: what was kept by it counts no more, and another one is opened when it is needed.

import type { Subscription } from '../driver.ts'
import type { Subscriptions } from '../runtime/subscriptions.ts'
import type { Unit } from '../runtime/unit.ts'

const LINGER_MS = 5000
/** After one could not be opened, none is for so long. */
const REST_MS = 1000

export interface Hearer {
  hear(message: string): void
  /** What was kept by this ear counts no more. */
  lose(ear: Ear): void
}

export class Ears {
  readonly #hearer: Hearer
  readonly #open = new Map<string, Ear>()
  #restsUntil = 0

  constructor(hearer: Hearer) {
    this.#hearer = hearer
  }

  /** One more who needs it, until it leaves. Null when none can be opened just now. */
  enter(unit: Unit): Ear | null {
    const { server, subscriptions } = unit.runtime
    if (server.info === null || performance.now() < this.#restsUntil) return null
    const channel = `${unit.told.channel}:levels`
    const ear = this.#open.get(channel) ?? this.#add(subscriptions, channel)
    ear.enter()
    return ear
  }

  #add(subscriptions: Subscriptions, channel: string): Ear {
    const ear = new Ear(subscriptions, channel, {
      hear: (message) => this.#hearer.hear(message),
      lose: () => {
        this.#open.delete(channel)
        if (!ear.wasReady) this.#restsUntil = performance.now() + REST_MS
        this.#hearer.lose(ear)
      },
    })
    this.#open.set(channel, ear)
    return ear
  }
}

export class Ear {
  readonly #subscription: Promise<Subscription>
  readonly #lose: () => void
  #users = 0
  #linger: NodeJS.Timeout | null = null
  #state: 'opening' | 'ready' | 'over' = 'opening'
  #wasReady = false

  constructor(subscriptions: Subscriptions, channel: string, hearer: Hearer) {
    this.#lose = () => hearer.lose(this)
    this.#subscription = subscriptions.subscribe(channel, {
      onMessage: (message) => hearer.hear(message),
      onLost: () => this.#end(),
      onGap: () => {
        // While it is opening nothing was kept that a missed message could have ended.
        if (this.ready) this.#end()
      },
    })
    this.#subscription.then(
      () => this.#begin(),
      () => this.#end(),
    )
  }

  /** True while it hears all. */
  get ready(): boolean {
    return this.#state === 'ready'
  }

  get wasReady(): boolean {
    return this.#wasReady
  }

  enter(): void {
    this.#users += 1
  }

  /** It lingers a while: whoever left may come back. */
  leave(): void {
    this.#users -= 1
    if (this.#users > 0 || this.#linger !== null) return
    this.#linger = setTimeout(() => this.#lookIn(), LINGER_MS).unref()
  }

  #lookIn(): void {
    this.#linger = null
    if (this.#users === 0) this.#end()
  }

  #begin(): void {
    if (this.#state === 'over') return
    this.#state = 'ready'
    this.#wasReady = true
  }

  #end(): void {
    if (this.#state === 'over') return
    this.#state = 'over'
    // A subscription that cannot be ended is gone with its connection.
    this.#subscription.then((subscription) => subscription.close()).catch(() => undefined)
    this.#lose()
  }
}
