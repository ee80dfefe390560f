// The subscriptions of one instance. They end with it, even if its driver continues for other instances.

import type { Driver, Listener, Subscription } from '../../driver.ts'
import { closed } from '../calls/runner.ts'

export class Subscriptions {
  readonly #driver: Pick<Driver, 'subscribe'>
  readonly #open = new Set<Promise<Subscription>>()
  /** Rejects subscriptions that are unconfirmed when the instance closes. */
  readonly #refusals = new Set<(reason: Error) => void>()
  #refuses = false

  constructor(driver: Pick<Driver, 'subscribe'>) {
    this.#driver = driver
  }

  /** Like `subscribe` of a driver; rejects with DriverError `closed` once the instance closes. */
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

  /** Rejects new subscriptions, and those that are not confirmed yet. */
  refuse(): void {
    this.#refuses = true
    for (const reject of this.#refusals) reject(closed())
  }

  /** Ends all of them. Not awaited: a half-open connection never confirms. */
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
