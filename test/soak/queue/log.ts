// The records of the processes of a soak of the queue: a list in the server of the queue itself, so that its order is
// the order in which the server executed commands, with the server's time.

import type { Cluster, Redis } from 'ioredis'

interface OfJob {
  /** Of two queues, one of which waits for the other. */
  readonly queue: 'main' | 'after'
  /** The producer's name for the job. */
  readonly ref: string
}

/** The outcome of an attempt as answered to its process; `unknown`: no answer arrived. */
export type Outcome = 'acked' | 'retried' | 'dead' | 'released' | 'lost' | 'unknown'

/** The outcome of a cancellation; `unknown`: no answer arrived. */
export type Cancelled = 'cancelled' | 'stopping' | 'absent' | 'unknown'

export type Entry =
  | (OfJob & Asked)
  /** `id` is empty without an answer. */
  | (OfJob & { readonly kind: 'enqueued'; readonly id: string })
  /** A process is about to cancel it, and the answer that it gets. */
  | (OfJob & { readonly kind: 'cancelling' })
  | (OfJob & { readonly kind: 'cancelled'; readonly outcome: Cancelled })
  /** No answer came, or it was refused for certain. */
  | (OfJob & { readonly kind: 'unknown' | 'refused' })
  | (OfJob & Began)
  /** Its handler is over, and its outcome not known yet. */
  | (OfJob & { readonly kind: 'ending'; readonly token: number; readonly throws: boolean })
  | (OfJob & { readonly kind: 'settled'; readonly token: number; readonly outcome: Outcome })
  | { readonly kind: 'broken'; readonly what: string }

interface Asked {
  readonly kind: 'asked'
  readonly dependsOn: readonly string[]
  readonly onDependencyFailure: string
  /** Without them: at once, and of priority 0. */
  readonly delayMs?: number
  readonly priority?: number
}

interface Began {
  readonly kind: 'began'
  readonly id: string
  readonly token: number
  readonly attempt: number
  readonly maxAttempts: number
  readonly group: string
  /** Until when it is claimed, as far as is known yet. */
  readonly endsAtMs: number
}

export type Line = Entry & {
  readonly by: string
  /** Of this process, counted from 1. */
  readonly n: number
  /** The server's. */
  readonly atMs: number
}

const APPEND = `local time = redis.call('TIME')
local ms = string.format('%.0f ', time[1] * 1000 + math.floor(time[2] / 1000))
for at = 1, #ARGV do redis.call('RPUSH', KEYS[1], ms .. ARGV[at]) end`

export class Log {
  readonly #client: Redis | Cluster
  readonly #key: string
  readonly #by: string
  readonly #writing = new Set<Promise<unknown>>()
  #written = 0

  constructor(client: Redis | Cluster, key: string, by: string) {
    this.#client = client
    this.#key = key
    this.#by = by
  }

  /** Resolves when the server has stored it. */
  async write(...entries: readonly Entry[]): Promise<void> {
    const lines = entries.map((entry) => JSON.stringify({ by: this.#by, n: ++this.#written, ...entry }))
    const writing = this.#client.eval(APPEND, 1, this.#key, ...lines)
    this.#writing.add(writing)
    await writing.finally(() => this.#writing.delete(writing))
  }

  async flush(): Promise<void> {
    await Promise.all(this.#writing)
  }
}

/** In order; a line that was sent again is there once. */
export async function readLog(client: Redis | Cluster, key: string): Promise<Line[]> {
  const known = new Set<string>()
  return (await client.lrange(key, 0, -1)).flatMap((text) => {
    const at = text.indexOf(' ')
    const line = { ...JSON.parse(text.slice(at)), atMs: Number(text.slice(0, at)) } as Line
    const name = `${line.by} ${line.n}`
    if (known.has(name)) return []
    known.add(name)
    return [line]
  })
}
