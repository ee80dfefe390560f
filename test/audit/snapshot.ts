// All keys of one unit as they are at one moment: read by one script.

import type { Redis } from 'ioredis'

const LOOK = `
local found = {}
for at, key in ipairs(KEYS) do
  local kind = redis.call('TYPE', key)['ok']
  local held = {}
  if kind == 'string' then
    held = { redis.call('GET', key) }
  elseif kind == 'hash' then
    held = redis.call('HGETALL', key)
  elseif kind == 'list' then
    held = redis.call('LRANGE', key, 0, -1)
  elseif kind == 'set' then
    held = redis.call('SMEMBERS', key)
  elseif kind == 'zset' then
    held = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  elseif kind == 'stream' then
    held = redis.call('XRANGE', key, '-', '+')
  end
  found[at] = { kind, redis.call('PTTL', key), held }
end
local time = redis.call('TIME')
return { time[1], time[2], found }`

export interface Entry {
  readonly place: string
  readonly fields: ReadonlyMap<string, Buffer>
}

type Held = Buffer | [Buffer, Buffer[]]

interface Stored {
  readonly kind: string
  /** -1: Redis never drops it. */
  readonly leftMs: number
  readonly held: readonly Held[]
}

/** Texts are in latin1: each byte a character. */
export class Snapshot {
  readonly prefix: string
  /** By the server's clock. */
  readonly nowMs: number
  readonly #parts: ReadonlyMap<string, Stored>

  constructor(prefix: string, nowMs: number, parts: ReadonlyMap<string, Stored>) {
    this.prefix = prefix
    this.nowMs = nowMs
    this.#parts = parts
  }

  get parts(): string[] {
    return [...this.#parts.keys()]
  }

  has(part: string): boolean {
    return this.#parts.has(part)
  }

  /** The keys of another unit, which begin with these parts. */
  under(beginning: string): Snapshot {
    const parts = [...this.#parts].filter(([part]) => part.startsWith(beginning))
    return new Snapshot(
      `${this.prefix}:${beginning}`,
      this.nowMs,
      new Map(parts.map(([part, stored]) => [part.slice(beginning.length), stored])),
    )
  }

  /** Without those parts that begin so. */
  without(beginning: string): Snapshot {
    const parts = [...this.#parts].filter(([part]) => !part.startsWith(beginning))
    return new Snapshot(this.prefix, this.nowMs, new Map(parts))
  }

  leftMs(part: string): number {
    return this.#parts.get(part)?.leftMs ?? -2
  }

  /** Of a string; null when there is none. */
  text(part: string): string | null {
    return this.#flat(part, 'string')[0]?.toString('latin1') ?? null
  }

  /** Of a list or a set. */
  items(part: string): string[] {
    return this.#flat(part, 'list', 'set').map((item) => item.toString('latin1'))
  }

  hash(part: string): Map<string, Buffer> {
    return pairs(this.#flat(part, 'hash'))
  }

  /** Members of a sorted set with their scores, in its order. */
  scores(part: string): Map<string, number> {
    return new Map([...pairs(this.#flat(part, 'zset'))].map(([member, score]) => [member, Number(score)]))
  }

  /**
   * Of any type but a stream, as Redis returns it: members of a sorted set with their scores, fields with their values.
   */
  flat(part: string): readonly Buffer[] {
    return this.#flat(part, 'hash', 'list', 'set', 'string', 'zset')
  }

  entries(part: string): Entry[] {
    return this.#held(part, 'stream').map((entry) => {
      const [id, fields] = entry as [Buffer, Buffer[]]
      return { place: id.toString('latin1').replace(/-0$/, ''), fields: pairs(fields) }
    })
  }

  /** The number of elements, of any type. */
  size(part: string): number {
    const stored = this.#parts.get(part)
    if (stored === undefined) return 0
    return stored.kind === 'hash' || stored.kind === 'zset' ? stored.held.length / 2 : stored.held.length
  }

  #flat(part: string, ...kinds: string[]): readonly Buffer[] {
    return this.#held(part, ...kinds) as readonly Buffer[]
  }

  #held(part: string, ...kinds: string[]): readonly Held[] {
    const stored = this.#parts.get(part)
    if (stored === undefined) return []
    if (!kinds.includes(stored.kind)) throw new Error(`${this.prefix}:${part} is a ${stored.kind}`)
    return stored.held
  }
}

function pairs(flat: readonly Buffer[]): Map<string, Buffer> {
  const map = new Map<string, Buffer>()
  for (let at = 0; at < flat.length; at += 2)
    map.set(String(flat[at]?.toString('latin1')), flat[at + 1] as Buffer)
  return map
}

/**
 * `prefix`: the common prefix of all keys of the unit; `keys`: all of them; `nowMs`: by a test clock, instead of the
 * server's.
 */
export async function snapshotOf(
  client: Redis,
  prefix: string,
  keys: readonly string[],
  nowMs?: number,
): Promise<Snapshot> {
  const answer = await client.callBuffer('EVAL', LOOK, keys.length, ...keys)
  const [seconds, micros, found] = answer as [Buffer, Buffer, [Buffer, number, Held[]][]]
  const parts = keys.map((key, at): [string, Stored] => {
    const [kind, leftMs, held] = found[at] as [Buffer, number, Held[]]
    return [key.slice(prefix.length + 1), { kind: String(kind), leftMs, held }]
  })
  const there = parts.filter(([, { kind }]) => kind !== 'none')
  const serverMs = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
  return new Snapshot(prefix, nowMs ?? serverMs, new Map(there))
}

/** The keys of a namespace, by unit. */
export async function unitsOf(client: Redis, namespace: string): Promise<Map<string, string[]>> {
  const units = new Map<string, string[]>()
  for await (const page of client.scanStream({ match: `${namespace}:{*`, count: 1000 })) {
    for (const key of new Set(page as string[])) {
      const prefix = key.slice(0, key.indexOf('}') + 1)
      units.set(prefix, [...new Set([...(units.get(prefix) ?? []), key])])
    }
  }
  return units
}
