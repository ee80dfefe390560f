// Three ways to replace a cached list. All of them make JSON of the items, as any cache of values does, and push a
// thousand of them with one command.

import type { ChainableCommander, Redis } from 'ioredis'
import { builtLibrary } from '../harness/built.ts'

export interface Replacing {
  readonly name: string
  replace(items: readonly string[]): Promise<unknown>
  close(): Promise<unknown>
}

const KEEP_S = 3600
const PER_PUSH = 1000

function commands(chain: ChainableCommander, key: string, items: readonly string[]): Promise<unknown> {
  chain.del(key)
  for (let at = 0; at < items.length; at += PER_PUSH) {
    chain.rpush(key, ...items.slice(at, at + PER_PUSH).map((item) => JSON.stringify(item)))
  }
  return chain.expire(key, KEEP_S).exec()
}

/** What this structure stands for: sent together, but others run in between. */
export function pipeline(client: Redis): Replacing {
  return {
    name: 'DEL, RPUSH, EXPIRE in a pipeline (unsafe)',
    replace: (items) => commands(client.pipeline(), 'bench:pipeline', items),
    close: async () => undefined,
  }
}

/** One step, which takes as long as the list is long; neither versions nor repeated calls are judged. */
export function multi(client: Redis): Replacing {
  return {
    name: 'the same in MULTI and EXEC',
    replace: (items) => commands(client.multi(), 'bench:multi', items),
    close: async () => undefined,
  }
}

// The least that writes a list with scripts; Lua makes a string of each item first.
const PUSH = `return redis.call('RPUSH', KEYS[1], unpack(ARGV))`

/** The minimum of every script: items of a hidden list, pushed by scripts sent together. */
export async function floor(client: Redis): Promise<Replacing> {
  const hash = String(await client.script('LOAD', PUSH))
  return {
    name: 'RPUSH in scripts, nothing else (floor)',
    async replace(items) {
      const chain = client.pipeline().del('bench:floor')
      for (let at = 0; at < items.length; at += PER_PUSH) {
        const pushed = items.slice(at, at + PER_PUSH).map((item) => JSON.stringify(item))
        chain.evalsha(hash, 1, 'bench:floor', ...pushed)
      }
      return chain.exec()
    },
    close: async () => undefined,
  }
}

export async function perilune(client: Redis): Promise<Replacing> {
  const { perilune: open, ioredis } = await builtLibrary()
  const library = open(ioredis(client), { deadline: '60s' })
  const list = library.collection<string>('bench', { kind: 'list', ttl: `${KEEP_S}s` })
  return { name: 'Perilune', replace: (items) => list.replace(items), close: () => library.close() }
}
