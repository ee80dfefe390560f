// Our port of Zaqar's first algorithm, from its description: the rank of a message is the value of a side
// counter, read under WATCH and written together with the index by MULTI and EXEC; a post that another
// one has overtaken begins again. A watch belongs to a connection, so posts share a pool of them.

import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Poster } from './poster.ts'
import { COUNTER, INDEX, type NewMessage, storeMessages, toMessages } from './zaqar-messages.ts'

const FIRST_PAUSE_MS = 1
const LONGEST_PAUSE_MS = 128

export interface WatchOptions {
  connections: number
  /** Pauses at random before it tries again, for up to twice as long each time. */
  backoff: boolean
}

export class WatchPoster implements Poster {
  retries = 0
  readonly #free: Redis[]
  readonly #waiting: ((connection: Redis) => void)[] = []
  readonly #backoff: boolean

  constructor(port: number, { connections, backoff }: WatchOptions) {
    this.#free = Array.from({ length: connections }, () => new Redis(port))
    this.#backoff = backoff
  }

  async post(bodies: readonly string[]): Promise<void> {
    const messages = toMessages(bodies)
    const connection = await this.#take()
    try {
      await storeMessages(connection.multi(), messages)
      for (let pauseMs = FIRST_PAUSE_MS; !(await index(connection, messages)); pauseMs *= 2) {
        this.retries++
        if (this.#backoff) await sleep(Math.random() * Math.min(pauseMs, LONGEST_PAUSE_MS))
      }
    } finally {
      this.#giveBack(connection)
    }
  }

  async close(): Promise<void> {
    for (const connection of this.#free) connection.disconnect()
  }

  async #take(): Promise<Redis> {
    return this.#free.pop() ?? new Promise((resolve) => this.#waiting.push(resolve))
  }

  #giveBack(connection: Redis): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free.push(connection)
    else next(connection)
  }
}

/** Resolves to false when another post came between. WATCH and GET share a round trip. */
async function index(connection: Redis, messages: readonly NewMessage[]): Promise<boolean> {
  const [, counter] = await Promise.all([connection.watch(COUNTER), connection.get(COUNTER)])
  const first = Number(counter ?? 0)
  const transaction = connection.multi()
  for (const [at, { id }] of messages.entries()) transaction.zadd(INDEX, first + at, id)
  transaction.set(COUNTER, first + messages.length)
  return (await transaction.exec()) !== null
}
