// Tracks the first requests of node-redis on each new connection as outstanding answers, because node-redis waits for
// them without a limit. It exposes them through events only.

import { errorMonitor } from 'node:events'
import { emitterOf, type NodeClient } from './client.ts'

/** With `errorMonitor` instead of `error`, an unhandled error still ends the process, as usual for node-redis. */
const ENDS = ['ready', errorMonitor, 'reconnecting', 'end']

/**
 * Called with a client that has reconnected, and a promise that settles once its server has answered, or the client has
 * given up.
 */
export type OnGreeting = (client: NodeClient, greeted: Promise<void>) => void

/** The state of one client. */
class Greeting {
  readonly #client: NodeClient
  readonly #onGreeting: OnGreeting
  /** A client that connects for the first time is not watched: its user waits for that connection. */
  #wasReady: boolean
  #onGreeted: (() => void) | undefined

  constructor(client: NodeClient, onGreeting: OnGreeting) {
    this.#client = client
    this.#onGreeting = onGreeting
    this.#wasReady = client.isReady
    const emitter = emitterOf(client)
    emitter.on('connect', this.#begin)
    for (const event of ENDS) emitter.on(event, this.#end)
  }

  get isDue(): boolean {
    return this.#onGreeted !== undefined
  }

  forget(): void {
    const emitter = emitterOf(this.#client)
    emitter.off('connect', this.#begin)
    for (const event of ENDS) emitter.off(event, this.#end)
    this.#end()
  }

  readonly #begin = (): void => {
    if (!this.#wasReady) return
    const greeted = new Promise<void>((resolve) => {
      this.#onGreeted = resolve
    })
    this.#onGreeting(this.#client, greeted)
  }

  readonly #end = (): void => {
    this.#wasReady ||= this.#client.isReady
    this.#onGreeted?.()
    this.#onGreeted = undefined
  }
}

export class Greetings {
  #greetings = new Map<NodeClient, Greeting>()

  /** Watches these clients from now on, and no others. */
  watch(clients: readonly NodeClient[], onGreeting: OnGreeting): void {
    const before = this.#greetings
    const greetingOf = (client: NodeClient): Greeting =>
      before.get(client) ?? new Greeting(client, onGreeting)
    this.#greetings = new Map(clients.map((client) => [client, greetingOf(client)]))
    for (const [client, greeting] of before) if (!this.#greetings.has(client)) greeting.forget()
  }

  stop(): void {
    for (const greeting of this.#greetings.values()) greeting.forget()
    this.#greetings.clear()
  }

  /** True while a client that was ready before is connected but not ready again. */
  isDue(client: NodeClient): boolean {
    return this.#greetings.get(client)?.isDue ?? false
  }
}
