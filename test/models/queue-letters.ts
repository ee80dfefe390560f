// A worker that takes jobs by letter (lua/shared/queue/idle).

import type { Redis } from 'ioredis'

const PROCESS = 'm'

export class LetterReader {
  /** How a call reaches it. */
  readonly how = { channel: 'letters', counted: true }
  /** Of all histories. */
  static read = 0
  readonly #letters: string[] = []
  #wake: (() => void) | null = null
  #last = 0

  static async subscribe(client: Redis): Promise<LetterReader> {
    const reader = new LetterReader()
    await client.subscribe(`${reader.how.channel}:${PROCESS}`)
    client.on('message', (_channel, message) => {
      reader.#letters.push(message)
      reader.#wake?.()
    })
    return reader
  }

  /** Another one each time. */
  name(leaseMs: number): string {
    this.#last += 1
    return `${PROCESS}.${this.#last}:${leaseMs}`
  }

  /** The next job of the newest one, after its head. */
  async letter(): Promise<string> {
    const head = `job ${PROCESS}.${this.#last} `
    for (;;) {
      const letter = this.#letters.shift()
      if (letter?.startsWith(head) === true) {
        LetterReader.read += 1
        return letter.slice(head.length)
      }
      if (letter === undefined) await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}
