// What a test writes and reads in a slot that moves, and what was acknowledged: lists, and keys of a cache.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Cache, CollectionList, Perilune } from 'perilune'
import { expect } from 'vitest'
import { slotOf } from '../../src/drivers/wire/slot.ts'
import { LONG } from '../proof.ts'

/** Enough items that they are built next to the list, and renamed. */
const ITEMS = LONG ? 10_000 : 1200

/** Names whose keys lie in this slot: one in 16,384 does. */
export function namesIn(slot: number, count: number, prefixOf: (name: string) => string): string[] {
  const found: string[] = []
  for (let n = 0; found.length < count; n++) {
    if (slotOf(prefixOf(`${n}`)) === slot) found.push(`${n}`)
  }
  return found
}

/** A list as its writers have sent it: each item contains its version. */
export class Sent {
  readonly name: string
  acknowledged = 0
  #version = 0

  constructor(name: string) {
    this.name = name
  }

  async replaceIn(redis: Perilune): Promise<void> {
    this.#version += 1
    const version = this.#version
    const { status } = await listIn(redis, this.name).replace(itemsOf(version), { version })
    expect(['replaced', 'refused']).toContain(status)
    this.acknowledged = Math.max(this.acknowledged, version)
  }

  /** False when it was replaced before its last page. */
  async readIn(redis: Perilune): Promise<boolean> {
    const { acknowledged } = this
    const list = listIn(redis, this.name)
    const items: number[] = []
    for (let after: string | null = null; ; ) {
      const page = await list.read({ limit: 1000, ...(after === null ? {} : { after }) })
      if (page.status === 'replaced') return false
      if (page.status === 'absent') throw new Error(`list ${this.name} is gone`)
      items.push(...page.items)
      after = page.next
      if (after !== null) continue
      expect(page.version).toBeGreaterThanOrEqual(acknowledged)
      expect(items).toEqual(itemsOf(page.version ?? 0))
      return true
    }
  }
}

function listIn(redis: Perilune, name: string): CollectionList<number> {
  return redis.collection<number>(name, { kind: 'list' })
}

/** Not all lists are equally long: one that is there twice, or with the tail of another, is seen. */
function itemsOf(version: number): number[] {
  return Array.from({ length: ITEMS + (version % 3) * 50 }, (_, at) => version * 100_000 + at)
}

/** What a cache loads, and which value was acknowledged last. */
export class Origin {
  readonly key: string
  value = 1
  acknowledged = 1
  most = 0
  #loads = 0

  constructor(key: string) {
    this.key = key
  }

  /** The value changes before the cache is notified, as in a database. */
  async changeIn(cache: Cache<number>): Promise<void> {
    this.value += 1
    const { value } = this
    if (value % 2 === 0) await cache.set(this.key, value)
    else await cache.invalidate(this.key)
    this.acknowledged = Math.max(this.acknowledged, value)
  }

  async getFrom(cache: Cache<number>): Promise<void> {
    const { acknowledged } = this
    expect(await cache.get(this.key, () => this.#load())).toBeGreaterThanOrEqual(acknowledged)
  }

  async #load(): Promise<number> {
    this.#loads += 1
    this.most = Math.max(this.most, this.#loads)
    const { value } = this
    await sleep(5)
    this.#loads -= 1
    return value
  }
}
