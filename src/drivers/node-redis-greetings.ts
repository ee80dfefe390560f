// Connections whose server has not answered yet what node-redis asks it first. It waits for that without end, and tells nothing but
// what happens.

import type { NodeClient } from './node-redis-client.ts'

const ENDS = ['ready', 'error', 'reconnecting', 'end']

/** What is known of one client. */
class Greeting {
  readonly #client: NodeClient
  /** One that connects for the first time is its user's affair: he waits for that. */
  #wasReady: boolean
  isDue = false

  constructor(client: NodeClient) {
    this.#client = client
    this.#wasReady = client.isReady
    client.on('connect', this.#begin)
    for (const event of ENDS) client.on(event, this.#end)
  }

  forget(): void {
    this.#client.off('connect', this.#begin)
    for (const event of ENDS) this.#client.off(event, this.#end)
  }

  readonly #begin = (): void => {
    this.isDue = this.#wasReady
  }

  readonly #end = (): void => {
    this.#wasReady ||= this.#client.isReady
    this.isDue = false
  }
}

export class Greetings {
  #greetings = new Map<NodeClient, Greeting>()

  /** These are all clients from now on. */
  watch(clients: readonly NodeClient[]): void {
    const before = this.#greetings
    this.#greetings = new Map(clients.map((client) => [client, before.get(client) ?? new Greeting(client)]))
    for (const [client, greeting] of before) if (!this.#greetings.has(client)) greeting.forget()
  }

  /** True while it is connected, was ready before, and is not again yet. */
  isDue(client: NodeClient): boolean {
    return this.#greetings.get(client)?.isDue ?? false
  }
}
