import type { ServerInfo } from '../../driver.ts'

/** Whether subscriptions of a cluster are sharded. Asked once; a failed question is repeated. */
export class Sharding {
  readonly #info: () => Promise<ServerInfo>
  #asking: Promise<boolean> | undefined

  constructor(info: () => Promise<ServerInfo>) {
    this.#info = info
  }

  async isOn(): Promise<boolean> {
    this.#asking ??= this.#info().then((info) => info.shardedChannels)
    return this.#asking.catch((error: unknown) => {
      this.#asking = undefined
      throw error
    })
  }
}
