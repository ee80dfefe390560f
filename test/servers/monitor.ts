// What a server does, as MONITOR tells it.

import { once } from 'node:events'
import { Redis } from 'ioredis'

export interface Seen {
  /** `lua` where a script ran it. */
  readonly source: string
  readonly words: string[]
}

export interface Watch {
  readonly seen: Seen[]
  /** Resolves when a command was seen whose second word is this. */
  until(word: string): Promise<void>
  stop(): void
}

/** Everything that the server does from here on. No command may be sent until this resolves: the client would fail. */
export async function monitor(port: number): Promise<Watch> {
  // A ready check would meet the replies of MONITOR.
  const client = await new Redis({ port, lazyConnect: true, enableReadyCheck: false }).monitor()
  const seen: Seen[] = []
  client.on('monitor', (_time: string, words: string[], source: string) => seen.push({ source, words }))
  return {
    seen,
    until: async (word) => {
      while (!seen.some(({ words }) => words[1] === word)) await once(client, 'monitor')
    },
    stop: () => client.disconnect(),
  }
}
