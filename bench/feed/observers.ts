// Many observers that follow one feed: how long until all have a message, and what each costs the server.

import { setMaxListeners } from 'node:events'
import type { Redis } from 'ioredis'
import type { Perilune } from '../../src/index.ts'
import type { Bench, Variant } from '../harness/bench.ts'
import { BODY } from './poster.ts'

const OBSERVERS = [1, 10, 100, 1000]
const QUICK_OBSERVERS = [1, 10]

export const FOLLOWING = 'a message until every observer has it, by number of observers'

export async function compareObservers(bench: Bench, client: Redis, library: Perilune): Promise<void> {
  await client.flushall()
  const end = new AbortController()
  setMaxListeners(0, end.signal) // an observer has one
  const variants: Record<string, Variant> = {}
  const tails: Promise<void>[] = []
  const counts = bench.quick ? QUICK_OBSERVERS : OBSERVERS
  for (const count of counts) {
    const crowd = new Crowd(library, count, end.signal)
    await crowd.reach() // from here on all of them wait at the end
    tails.push(...crowd.tails)
    variants[String(count)] = () => crowd.reach()
  }
  const measured = await bench.compare(
    `append and wait until all of 1 to ${counts.at(-1)} observers have it`,
    variants,
    {
      rounds: 5,
      perRound: 40,
    },
  )
  bench.report(
    FOLLOWING,
    [...measured].map(([variant, { p50Ms, serverCpuUs, clientCpuUs }]) => ({
      variant,
      p50Ms,
      serverCpuUsEach: serverCpuUs / Number(variant),
      clientCpuUsEach: clientCpuUs / Number(variant),
    })),
  )
  end.abort()
  await Promise.all(tails)
}

/** Observers of one feed. */
class Crowd {
  readonly tails: Promise<void>[]
  readonly #feed: ReturnType<Perilune['feed']>
  readonly #count: number
  #missing = 0
  #reached = (): void => {}

  constructor(library: Perilune, count: number, signal: AbortSignal) {
    this.#feed = library.feed(`observed by ${count}`)
    this.#count = count
    this.tails = Array.from({ length: count }, () => this.#follow(signal))
  }

  /** Appends a message; resolves once every observer has it. */
  async reach(): Promise<void> {
    this.#missing = this.#count
    const all = new Promise<void>((resolve) => {
      this.#reached = resolve
    })
    await Promise.all([this.#feed.append(BODY), all])
  }

  async #follow(signal: AbortSignal): Promise<void> {
    try {
      for await (const _ of this.#feed.tail({ signal })) {
        this.#missing -= 1
        if (this.#missing === 0) this.#reached()
      }
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }
}
