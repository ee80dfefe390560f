// Server-sent events: all who listen get the same picture, so many of them cost what one does.

import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const EVERY_MS = 500

export class Live {
  readonly #listeners = new Set<ServerResponse>()
  readonly #take: () => Promise<unknown>
  #running: Promise<void> | undefined

  constructor(take: () => Promise<unknown>) {
    this.#take = take
  }

  follow(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    this.#listeners.add(response)
    response.once('close', () => this.#listeners.delete(response))
    this.#running ??= this.#run()
  }

  /** Resolves once no event is sent any more. */
  async close(): Promise<void> {
    for (const listener of this.#listeners) listener.end()
    this.#listeners.clear()
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#listeners.size > 0) {
      this.#tell(await this.#event())
      await sleep(EVERY_MS)
    }
    this.#running = undefined
  }

  async #event(): Promise<string> {
    try {
      return `data: ${JSON.stringify(await this.#take())}\n\n`
    } catch (error) {
      return `event: trouble\ndata: ${JSON.stringify(String(error))}\n\n`
    }
  }

  /** A slow client misses a picture: the next one shows everything. */
  #tell(event: string): void {
    for (const listener of this.#listeners) {
      if (!listener.writableNeedDrain) listener.write(event)
    }
  }
}
