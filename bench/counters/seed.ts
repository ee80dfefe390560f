// The origin's way: the vote is a row, Redis counts, workers write the counts back as they are and mark them as saved.
// Ours, from the description. One of its mistakes is mended, or nothing would be written after the first time that a
// worker came by: an increment takes the mark away.

import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { type Contender, EVERY_MS, type Stage, type Voting } from './contender.ts'

const WORKERS = 2
const RETENTION_S = 600

/** Answers nil where the counter is not there. */
const INCREMENT = `
if redis.call('EXISTS', KEYS[1]) == 0 then return false end
redis.call('HSET', KEYS[1], 'saved', '0', 'at', redis.call('TIME')[1])
return redis.call('HINCRBY', KEYS[1], 'votes', 1)
`

const LOAD = `
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('HSET', KEYS[1], 'votes', ARGV[1], 'saved', '1', 'at', redis.call('TIME')[1]) end
`

/** Deletes what was kept long enough, if it has not changed and is saved. */
const EVICT = `
local votes, saved, at = unpack(redis.call('HMGET', KEYS[1], 'votes', 'saved', 'at'))
if votes == ARGV[1] and saved == '1' and redis.call('TIME')[1] - at >= tonumber(ARGV[2]) then redis.call('DEL', KEYS[1]) end
`

const MARK = `
if redis.call('HGET', KEYS[1], 'votes') == ARGV[1] then redis.call('HSET', KEYS[1], 'saved', '1') end
`

export const seed: Contender = {
  name: "the origin's scheme",
  settings: `INSERT the vote, INCR what is in Redis, else load it; ${WORKERS} workers SCAN each ${EVERY_MS} ms and SET what is not saved. Wrong: a crash between the two loses the count of a vote, lost keys lose all that is not saved, a slow worker overwrites a newer count, an INCR that is sent again after a lost answer counts twice. Mended: an increment clears the mark`,
  async open(stage): Promise<Voting> {
    const scheme = await Scheme.open(stage)
    return {
      begin: (items) => scheme.begin(items),
      vote: (voter, item) => scheme.vote(voter, item),
      settle: () => scheme.settle(),
      close: async () => scheme.close(),
    }
  },
}

type Script = (item: number, ...more: (string | number)[]) => Promise<unknown>

class Scheme {
  readonly #stage: Stage
  readonly #client: Redis
  readonly #increment: Script
  readonly #load: Script
  readonly #mark: Script
  readonly #evict: Script
  #ends = new AbortController()
  #workers: Promise<unknown> = Promise.resolve()

  private constructor(stage: Stage, client: Redis, scripts: readonly Script[]) {
    this.#stage = stage
    this.#client = client
    ;[this.#increment, this.#load, this.#mark, this.#evict] = scripts as [Script, Script, Script, Script]
  }

  static async open(stage: Stage): Promise<Scheme> {
    const client = new Redis({ port: stage.redisPort, enableAutoPipelining: true })
    const prepare = async (lua: string): Promise<Script> => {
      const hash = String(await client.script('LOAD', lua))
      return (item, ...more) => client.evalsha(hash, 1, `${stage.name}:${item}`, ...more)
    }
    return new Scheme(stage, client, await Promise.all([INCREMENT, LOAD, MARK, EVICT].map(prepare)))
  }

  async begin(items: readonly number[]): Promise<void> {
    const keys = await this.#keys()
    if (keys.length > 0) await this.#client.del(...keys)
    await Promise.all(items.map((item) => this.#fill(item)))
    this.#ends = new AbortController()
    this.#workers = Promise.all(Array.from({ length: WORKERS }, () => this.#work(this.#ends.signal)))
  }

  async vote(voter: number, item: number): Promise<void> {
    const { database, votes } = this.#stage
    await database.run(`INSERT INTO ${votes} (voter, item) VALUES (?, ?)`, [voter, item])
    if ((await this.#increment(item)) !== null) return
    await this.#fill(item)
    await this.#increment(item)
  }

  async #fill(item: number): Promise<void> {
    const { database, items } = this.#stage
    const [row] = await database.run(`SELECT votes FROM ${items} WHERE id = ?`, [item])
    await this.#load(item, String(row?.['votes']))
  }

  async #work(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined)
      if (!signal.aborted) await this.#saveAll()
    }
  }

  async #saveAll(): Promise<void> {
    await Promise.all((await this.#keys()).map((key) => this.#save(key)))
  }

  async #save(key: string): Promise<void> {
    const [votes, saved, at] = await this.#client.hmget(key, 'votes', 'saved', 'at')
    if (votes == null) return
    const item = Number(key.slice(this.#stage.name.length + 1))
    if (saved === '1') {
      if (Date.now() / 1000 - Number(at) >= RETENTION_S) await this.#evict(item, votes, RETENTION_S)
      return
    }
    const { database, items } = this.#stage
    await database.run(`UPDATE ${items} SET votes = ? WHERE id = ?`, [Number(votes), item])
    await this.#mark(item, votes)
  }

  async #keys(): Promise<string[]> {
    const found = new Set<string>()
    for await (const keys of this.#client.scanStream({ match: `${this.#stage.name}:*`, count: 1000 })) {
      for (const key of keys as string[]) found.add(key)
    }
    return [...found]
  }

  async settle(): Promise<void> {
    this.#ends.abort()
    await this.#workers
    await this.#saveAll()
  }

  close(): void {
    this.#client.disconnect()
  }
}
