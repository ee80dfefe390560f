// The floor of an append that travels with others: a script that does nothing but XADD, sent once for all
// calls of a tick, two under way. It promises nothing: no order across failures, no call ids, no wake-ups.

import type { Redis } from 'ioredis'

const SCRIPT = `for at = 1, #ARGV do redis.call('XADD', KEYS[1], '*', 'b', ARGV[at]) end return #ARGV`
const UNDER_WAY = 2

export class BatchedXadd {
  readonly #client: Redis
  readonly #key: string
  readonly #hash: string
  #bodies: string[] = []
  #resolves: (() => void)[] = []
  #underWay = 0
  #scheduled = false

  private constructor(client: Redis, key: string, hash: string) {
    this.#client = client
    this.#key = key
    this.#hash = hash
  }

  static async open(client: Redis, key: string): Promise<BatchedXadd> {
    return new BatchedXadd(client, key, String(await client.script('LOAD', SCRIPT)))
  }

  append(body: string): Promise<void> {
    return new Promise((resolve) => {
      this.#bodies.push(body)
      this.#resolves.push(resolve)
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#scheduled || this.#underWay === UNDER_WAY || this.#bodies.length === 0) return
    this.#scheduled = true
    process.nextTick(() => void this.#flush())
  }

  async #flush(): Promise<void> {
    this.#scheduled = false
    const share = Math.ceil(this.#bodies.length / (UNDER_WAY - this.#underWay))
    const bodies = this.#bodies.splice(0, share)
    const resolves = this.#resolves.splice(0, share)
    this.#underWay += 1
    this.#schedule()
    await this.#client.evalsha(this.#hash, 1, this.#key, ...bodies)
    this.#underWay -= 1
    for (const resolve of resolves) resolve()
    this.#schedule()
  }
}
