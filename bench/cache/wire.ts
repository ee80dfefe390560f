// Commands that clients send, as MONITOR has them; those that scripts call are left out.

import { Redis } from 'ioredis'

const END = 'bench:end'

export class Wire {
  readonly #client: Redis
  readonly #monitor: Redis
  #sent = 0
  #ended: () => void = () => {}

  private constructor(client: Redis, monitor: Redis) {
    this.#client = client
    this.#monitor = monitor
    monitor.on('monitor', (_time: string, words: string[], source: string) => this.#note(words, source))
  }

  static async open(port: number): Promise<Wire> {
    const client = new Redis(port)
    return new Wire(client, await client.monitor())
  }

  #note(words: readonly string[], source: string): void {
    if (words[1] === END) this.#ended()
    else if (source !== 'lua') this.#sent++
  }

  /** Begins to count. */
  reset(): void {
    this.#sent = 0
  }

  /** Commands since then, of all clients but this one. */
  async count(): Promise<number> {
    const ended = new Promise<void>((resolve) => (this.#ended = resolve))
    await this.#client.echo(END)
    await ended
    return this.#sent
  }

  close(): void {
    this.#monitor.disconnect()
    this.#client.disconnect()
  }
}
