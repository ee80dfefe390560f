// What node-redis asks a server first, over each new connection, is an answer that is due, whoever waits for the connection:
// node-redis waits without end. It tells nothing but what happens.

import { errorMonitor } from 'node:events'
import type { NodeClient } from './client.ts'

/** Of an error that nobody else hears the process still ends, as node-redis has it. */
const ENDS = ['ready', errorMonitor, 'reconnecting', 'end']

/** Called with a client that has connected again, and with what settles once its server has answered, or it has given up. */
export type OnGreeting = (client: NodeClient, greeted: Promise<void>) => void

/** What is known of one client. */
class Greeting {
  readonly #client: NodeClient
  readonly #onGreeting: OnGreeting
  /** One that connects for the first time is its user's affair: he waits for that. */
  #wasReady: boolean
  #onGreeted: (() => void) | undefined

  constructor(client: NodeClient, onGreeting: OnGreeting) {
    this.#client = client
    this.#onGreeting = onGreeting
    this.#wasReady = client.isReady
    client.on('connect', this.#begin)
    for (const event of ENDS) client.on(event, this.#end)
  }

  get isDue(): boolean {
    return this.#onGreeted !== undefined
  }

  forget(): void {
    this.#client.off('connect', this.#begin)
    for (const event of ENDS) this.#client.off(event, this.#end)
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

  /** These are all clients from now on. */
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

  /** True while it is connected, was ready before, and is not again yet. */
  isDue(client: NodeClient): boolean {
    return this.#greetings.get(client)?.isDue ?? false
  }
}
