// The subscriptions of one instance. They end with it, also where its driver goes on for others.

import type { Driver, Listener, Subscription } from '../../driver.ts'
import { closed } from '../calls/runner.ts'

export class Subscriptions {
  readonly #driver: Pick<Driver, 'subscribe'>
  readonly #open = new Set<Promise<Subscription>>()
  /** Rejects those that are not confirmed when the instance closes. */
  readonly #refusals = new Set<(reason: Error) => void>()
  #refuses = false

  constructor(driver: Pick<Driver, 'subscribe'>) {
    this.#driver = driver
  }

  /** As `subscribe` of a driver; rejects with DriverError `closed` once the instance closes. */
  async subscribe(channel: string, listener: Listener): Promise<Subscription> {
    if (this.#refuses) throw closed()
    const opening = this.#driver.subscribe(channel, listener)
    this.#open.add(opening)
    const leave = async (): Promise<void> => {
      if (this.#open.delete(opening)) await (await opening).close()
    }
    try {
      await this.#unlessRefused(opening)
      return { close: leave }
    } catch (error) {
      leave().catch(() => undefined)
      throw error
    }
  }

  /** From now on there are no more, and those that are not confirmed are not waited for. */
  refuse(): void {
    this.#refuses = true
    for (const reject of this.#refusals) reject(closed())
  }

  /** Ends all of them. Not awaited: a connection that is half open never confirms. */
  close(): void {
    this.refuse()
    for (const opening of this.#open) {
      opening.then((subscription) => subscription.close()).catch(() => undefined)
    }
    this.#open.clear()
  }

  #unlessRefused(opening: Promise<Subscription>): Promise<Subscription> {
    return new Promise((resolve, reject) => {
      this.#refusals.add(reject)
      opening.then(resolve, reject).finally(() => this.#refusals.delete(reject))
    })
  }
}
