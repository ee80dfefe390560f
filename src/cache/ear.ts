// Where a level hears what counts no more (lua/shared/cache/messages). On one node all levels listen on one channel, on a
// cluster there is one for each key and tag: who tells and who listens meet on the node that holds it.
//
// One whose connection is lost is over: what was kept by it counts no more, and another one is opened when it is needed.

import type { Runtime } from '../runtime/connection/runtime.ts'
import { SharedSubscription } from '../runtime/subscriptions/shared-subscription.ts'
import type { Subscriptions } from '../runtime/subscriptions/subscriptions.ts'
import type { Unit } from '../runtime/connection/unit.ts'

/** After one could not be opened, none is for so long. */
const REST_MS = 1000

/** It is ready while it hears all. */
export type Ear = SharedSubscription

export interface Hearer {
  /** What scripts tell of a key in Redis. */
  note(key: string, number: number): void
  /** What was kept by this ear counts no more. */
  lose(ear: Ear): void
}

const known = new WeakMap<Runtime, Ears>()

/** Those of all levels of an instance: a message is for one of them, however many there are. */
export class Ears {
  readonly #open = new Map<string, Ear>()
  /** By the keys in Redis of which they are told. */
  readonly #hearers = new Map<string, Hearer>()
  #restsUntil = 0

  static of(runtime: Runtime): Ears {
    const ears = known.get(runtime) ?? new Ears()
    known.set(runtime, ears)
    return ears
  }

  /** From now on what is told of this key is for `hearer`. */
  listen(key: string, hearer: Hearer): void {
    this.#hearers.set(key, hearer)
  }

  forget(key: string): void {
    this.#hearers.delete(key)
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
    const ear: Ear = new SharedSubscription(subscriptions, channel, {
      onMessage: (message) => this.#hear(message),
      onLost: () => ear.end(),
      onGap: () => {
        // While it is opening nothing was kept that a missed message could have ended.
        if (ear.isReady) ear.end()
      },
      onOver: (wasReady) => {
        this.#open.delete(channel)
        if (!wasReady) this.#restsUntil = performance.now() + REST_MS
        for (const hearer of new Set(this.#hearers.values())) hearer.lose(ear)
      },
    })
    this.#open.set(channel, ear)
    return ear
  }

  #hear(message: string): void {
    const space = message.indexOf(' ')
    const key = message.slice(space + 1)
    this.#hearers.get(key)?.note(key, Number(message.slice(0, space)))
  }
}
