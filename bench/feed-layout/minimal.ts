// The two layouts with as little around them as the question allows.

import { readFileSync } from 'node:fs'
import type { Redis } from 'ioredis'
import { type Feed, LIFE_MS, ORIGIN, PAGE } from './contender.ts'

const LEASE_MS = 3_600_000
const KEYS = ['meta', 'log', 'packed', 'claimed', 'leases', 'returned', 'work']

type Run = (operation: string, ...args: (string | number)[]) => Promise<unknown>

/** A feed whose scripts are the layout's functions followed by the operation. */
export async function minimalFeed(client: Redis, layout: string): Promise<Feed> {
  const prefix = `minimal:{${layout}}`
  const run = await loadScripts(client, layout, prefix)
  return {
    prefix,
    async append(bodies) {
      const first = Number(await run('append', LIFE_MS, ORIGIN, ...bodies))
      return bodies.map((_, at) => String(first + at))
    },
    async page(after) {
      return list(await run('page', after, PAGE)).length / 3
    },
    async claim() {
      const [token, messages] = list(await run('claim', PAGE, LEASE_MS))
      const positions = list(messages).filter((_, at) => at % 3 === 0)
      return (count) => run('ack', Number(token), ...positions.slice(0, count ?? 0).map(Number))
    },
  }
}

async function loadScripts(client: Redis, layout: string, prefix: string): Promise<Run> {
  const keys = KEYS.map((key) => `${prefix}:${key}`)
  const hashes = new Map<string, string>()
  for (const operation of ['append', 'page', 'claim', 'ack']) {
    const source = [layout, 'state', operation].map(readLua).join('\n')
    hashes.set(operation, String(await client.script('LOAD', source)))
  }
  return (operation, ...args) => client.evalsha(hashes.get(operation) ?? '', keys.length, ...keys, ...args)
}

/** Throws for `{ 0 }` too, the answer when there is nothing to claim: then a cost would mean nothing. */
function list(answer: unknown): unknown[] {
  if (!Array.isArray(answer)) throw new Error(`a list was expected, not ${String(answer)}`)
  return answer
}

function readLua(name: string): string {
  return readFileSync(new URL(`${name}.lua`, import.meta.url), 'utf8')
}
