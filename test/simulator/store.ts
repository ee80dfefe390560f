// One partition in a real Redis, which can return to an earlier state: the last fsync, an old copy, or nothing.

import type { Redis } from 'ioredis'

const PARTS = ['meta', 'values', 'pending', 'rest', 'sealed', 'clean', 'once'] as const

export interface Copy {
  /** How many steps of the schedule it has seen. */
  readonly step: number
  readonly dumps: readonly (Buffer | null)[]
  /** The database knows of more than it does, and who restored it has not noticed. */
  readonly isOld: boolean
}

export interface Shown {
  readonly id: string
  readonly value: bigint
  /** Pending, or set aside. */
  readonly waiting: bigint
  readonly sealed: bigint
}

export class Store {
  readonly #client: Redis
  readonly #keys: readonly string[]
  readonly copies: Copy[] = [{ step: 0, dumps: [], isOld: false }]

  constructor(client: Redis, beginning: string) {
    this.#client = client
    this.#keys = PARTS.map((part) => beginning + part)
  }

  /** The present data survives a restart. */
  async fsync(step: number, isOld: boolean): Promise<void> {
    const dumps = await Promise.all(this.#keys.map((key) => this.#client.dumpBuffer(key)))
    this.copies.push({ step, dumps, isOld })
  }

  async restore({ dumps }: Copy): Promise<void> {
    // On one connection, so in this order.
    const cleared = this.clear()
    const kept = this.#keys.flatMap((key, at) => {
      const dump = dumps[at]
      return dump ? [this.#client.restore(key, 0, dump)] : []
    })
    await Promise.all([cleared, ...kept])
  }

  /** The value of each counter that it shows. */
  async look(): Promise<{ epoch: number; seq: number; shown: Shown[] }> {
    const [meta, values, pending, rest, sealed] = await Promise.all(
      this.#keys.slice(0, 5).map((key) => this.#client.hgetall(key)),
    )
    const shown = Object.entries(values ?? {}).map(([id, value]) => ({
      id,
      value: BigInt(value),
      waiting: BigInt(pending?.[id] ?? 0) + BigInt(rest?.[id] ?? 0),
      sealed: BigInt(sealed?.[id] ?? 0),
    }))
    return { epoch: Number(meta?.['epoch'] ?? 0), seq: Number(meta?.['seq'] ?? 0), shown }
  }

  /** The time of values is over that may go: the next seal evicts them. */
  async age(): Promise<void> {
    const clean = this.#keys[PARTS.indexOf('clean')] as string
    for (const id of await this.#client.zrange(clean, 0, '-1')) await this.#client.zadd(clean, 'XX', '0', id)
  }

  async clear(): Promise<void> {
    await this.#client.del(...this.#keys)
  }
}
