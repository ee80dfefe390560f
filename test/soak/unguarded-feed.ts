// The feed as it is often built, without scripts: a counter that is read, a sorted set that is written, the counter
// raised, each by a command of its own; readers look up the rank of the last message that they saw and read on after
// it. It shows what the soak finds in it.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { AmbiguousError } from 'perilune'
import type { Connection } from './connect.ts'
import type { Entry, SoakedFeed } from './soaked-feed.ts'

const PAGE = 50

export function unguarded({ command }: Connection, name: string): SoakedFeed {
  const tag = `{feed:${name}}` // the slot of the feed of the same name that is ours
  const [counter, order, bodies] = [`${tag}:counter`, `${tag}:order`, `${tag}:bodies`] as const

  async function append(message: string): Promise<string> {
    const id = randomUUID()
    try {
      await command('HSET', bodies, id, message)
      const rank = Number((await command('GET', counter)) ?? 0)
      await command('ZADD', order, String(rank), id)
      await command('INCR', counter)
      return id
    } catch (cause) {
      throw new AmbiguousError('append', { cause })
    }
  }

  async function page(after: string | null): Promise<Entry[]> {
    const rank = after === null ? null : await command('ZRANK', order, after)
    const first = rank === null ? 0 : Number(rank) + 1
    const ids = (await command('ZRANGE', order, String(first), String(first + PAGE - 1))) as unknown[]
    if (ids.length === 0) return []
    const found = (await command('HMGET', bodies, ...ids.map(String))) as unknown[]
    return ids.map((id, at) => ({ id: String(id), message: String(found[at]), lostBefore: null }))
  }

  async function* follow(signal: AbortSignal): AsyncGenerator<Entry> {
    let after: string | null = null
    for (;;) {
      const over = signal.aborted
      const entries: Entry[] | null = await page(after).catch(() => null)
      yield* entries ?? []
      after = entries?.at(-1)?.id ?? after
      if (over && entries?.length === 0) return
      if (!entries?.length) await sleep(5)
    }
  }

  return { append, follow, claim: async () => null }
}
