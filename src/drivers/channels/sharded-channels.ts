import { type ServerInfo, ServerReplyError } from '../../driver.ts'

/**
 * Whether subscriptions are sharded. Asked once; a failed question is repeated. For a user without the right to ask
 * they are not, as its calls publish on plain channels.
 */
export class Sharding {
  readonly #info: () => Promise<ServerInfo>
  #asking: Promise<boolean> | undefined

  constructor(info: () => Promise<ServerInfo>) {
    this.#info = info
  }

  isOn(): Promise<boolean> {
    this.#asking ??= this.#info().then(
      (info) => info.shardedChannels,
      (error: unknown) => {
        if (error instanceof ServerReplyError && error.word === 'NOPERM') return false
        throw error
      },
    )
    return this.#asking.catch((error: unknown) => {
      this.#asking = undefined
      throw error
    })
  }
}
