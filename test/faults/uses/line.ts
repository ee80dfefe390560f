// Lines with too many waiters to queue one by one: their tickets (lua/shared/line) are written directly.

import type { Redis } from 'ioredis'

export interface Waiters {
  readonly prefix: string
  readonly count: number
  /** x: alone, s: shared, b: waits for its chance. */
  readonly kind?: 'x' | 's' | 'b'
  /** Of processes without subscriptions: they are skipped. */
  readonly dead?: boolean
  /** Which word of the state, counted from 0, is the number of the newest ticket. */
  readonly lastTicketAt: number
}

export async function standInLine(
  client: Redis,
  { prefix, count, kind = 'x', dead = false, lastTicketAt }: Waiters,
): Promise<void> {
  const listens = dead ? 1 : 0
  const begins = Number((await wordsOf(client, prefix))[lastTicketAt])
  for (let from = 0; from < count; from += 1000) {
    const tickets = Array.from({ length: Math.min(1000, count - from) }, (_, at) => begins + from + at + 1)
    const members = tickets.flatMap((n) => [n, `gone${kind}.${n} ${kind} 60000 ${listens} 1 someone`])
    await client.zadd(`${prefix}:queue`, ...members)
  }
  const words = await wordsOf(client, prefix)
  words[lastTicketAt] = String(begins + count)
  await client.set(`${prefix}:state`, words.join(' '), 'KEEPTTL')
}

interface Lapsed {
  /** The keys: when each token ends, and who it is. */
  readonly leases: string
  readonly ids: string
  readonly count: number
  readonly weight?: string
  readonly endsAt?: number | undefined
}

const PAST = 1_700_000_000_000

/** Leases of tokens; without `endsAt` they ended long ago and have not been removed yet. */
export async function addLapsed(
  client: Redis,
  { leases, ids, count, weight = '', endsAt = PAST }: Lapsed,
): Promise<void> {
  for (let from = 0; from < count; from += 1000) {
    const numbers = Array.from({ length: Math.min(1000, count - from) }, (_, at) => from + at)
    await client.zadd(leases, ...numbers.flatMap((n) => [endsAt, `${PAST}${n}`]))
    const known = numbers.flatMap((n) => [
      `${PAST}${n}`,
      `${weight}dead.${n} ada`,
      `idead.${n}`,
      `${PAST}${n}`,
    ])
    await client.hset(ids, ...known)
  }
}

async function wordsOf(client: Redis, prefix: string): Promise<string[]> {
  return ((await client.get(`${prefix}:state`)) ?? '').split(' ')
}
