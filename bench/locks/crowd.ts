// Clients that contend: each acquires, holds and releases, again and again.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from './contender.ts'

/** What happened to one wish for the lock. All times in milliseconds of the machine's monotonic clock. */
export interface Wait {
  /** Who waited: a number from 0. */
  readonly waiter: number
  readonly askedAtMs: number
  /** When it knew that it held; may lie after the end of the measurement. Infinity: it never did. */
  readonly grantedAtMs: number
  /** Just before it gave the lock back. */
  readonly releasedAtMs: number
}

export interface Contention {
  readonly ms: number
  readonly holdMs: number
}

export interface Crowd {
  readonly waits: readonly Wait[]
  /** Since the beginning, of all clients; NaN when a contender does not tell. */
  readonly tries: number
  /** What ended a client early, of each that ended so. */
  readonly errors: readonly string[]
  readonly fromMs: number
  readonly untilMs: number
}

/** The same clock in all processes of a machine. */
function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** `first` is the number of the first client. Resolves when all have given back what they held. */
export async function contend(
  clients: readonly Client[],
  { ms, holdMs }: Contention,
  first = 0,
): Promise<Crowd> {
  const triesBefore = triesOf(clients)
  const fromMs = nowMs()
  const untilMs = fromMs + ms
  const each = clients.map((client, at) => cycle(client, first + at, untilMs, holdMs))
  const ends = await Promise.all(each)
  return {
    waits: ends.flatMap(({ waits }) => waits),
    tries: triesOf(clients) - triesBefore,
    errors: ends.flatMap(({ error }) => (error === null ? [] : [error])),
    fromMs,
    untilMs,
  }
}

interface End {
  readonly waits: readonly Wait[]
  readonly error: string | null
}

/** Who waits at the end still gets its turn, so that everything is given back. */
async function cycle(client: Client, waiter: number, untilMs: number, holdMs: number): Promise<End> {
  const waits: Wait[] = []
  for (let askedAtMs = nowMs(); askedAtMs < untilMs; askedAtMs = nowMs()) {
    let grantedAtMs = Infinity
    try {
      const release = await client.acquire()
      grantedAtMs = nowMs()
      if (holdMs > 0) await sleep(holdMs)
      const releasedAtMs = nowMs()
      await release()
      waits.push({ waiter, askedAtMs, grantedAtMs, releasedAtMs })
    } catch (error) {
      waits.push({ waiter, askedAtMs, grantedAtMs, releasedAtMs: nowMs() })
      return { waits, error: String(error) }
    }
  }
  return { waits, error: null }
}

function triesOf(clients: readonly Client[]): number {
  return clients.reduce((sum, { tries }) => sum + tries, 0)
}

/** What several processes saw, as one. */
export function together(crowds: readonly Crowd[]): Crowd {
  return {
    waits: crowds.flatMap(({ waits }) => waits),
    tries: crowds.reduce((sum, { tries }) => sum + tries, 0),
    errors: crowds.flatMap(({ errors }) => errors),
    fromMs: Math.max(...crowds.map(({ fromMs }) => fromMs)),
    untilMs: Math.min(...crowds.map(({ untilMs }) => untilMs)),
  }
}
