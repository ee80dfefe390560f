// A poll: rows of SQL say who has voted for what, and Redis shows what they come to.

import type { RowCounters } from 'perilune'
import type { Item, VoteDatabase } from './database.ts'

export interface Voted {
  /** False when this voter had voted for it before. */
  readonly isNew: boolean
  /** What Redis shows now; null where it shows nothing of the item, or does not answer. That loses no vote. */
  readonly votes: number | null
}

export interface Standing extends Item {
  /** What Redis shows. */
  readonly shown: number
}

/** Items do not change while it runs. */
export class Poll {
  readonly database: VoteDatabase
  readonly votes: RowCounters
  readonly items: readonly Pick<Item, 'id' | 'title'>[]
  readonly #ids: readonly number[]

  constructor(database: VoteDatabase, votes: RowCounters, items: readonly Item[]) {
    this.database = database
    this.votes = votes
    this.items = items.map(({ id, title }) => ({ id, title }))
    this.#ids = items.map(({ id }) => id)
  }

  has(item: number): boolean {
    return this.#ids.includes(item)
  }

  /** The row is the vote; the note is there so that others see it before it is counted. */
  async vote(voter: string, item: number): Promise<Voted> {
    const isNew = await this.database.insert(voter, item)
    const votes = isNew ? await this.votes.optimisticAdd(item) : await this.votes.get(item).catch(() => null)
    return { isNew, votes: votes === null ? null : Number(votes) }
  }

  /** What Redis shows of each item, by their ids. */
  async shown(): Promise<Map<number, number>> {
    const values = await this.votes.getMany(this.#ids)
    return new Map(this.#ids.map((id, at) => [id, Number(values[at] ?? 0)]))
  }

  async standings(): Promise<Standing[]> {
    const [shown, items] = await Promise.all([this.shown(), this.database.items()])
    return items.map((item) => ({ ...item, shown: shown.get(item.id) ?? 0 }))
  }
}
