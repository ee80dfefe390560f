// What the voting service needs of a database, and what all of them have in common.

import type { EventSource } from 'perilune'

export interface Item {
  readonly id: number
  readonly title: string
  /** What SQL has counted. */
  readonly votes: number
}

export interface VoteDatabase {
  /** Where it is, for people. */
  readonly place: string
  /** The rows of `votes`, which counters count. */
  readonly events: EventSource
  /** One INSERT; false when this voter has a row for the item. */
  insert(voter: string, item: number): Promise<boolean>
  items(): Promise<Item[]>
  /** How many rows of `votes` each item has, of voters whose names begin so. */
  rows(voters: string): Promise<Map<number, number>>
  close(): Promise<void>
}

/** Which rows are counted, and where to. An item that is not there is nothing to vote for, and not created. */
export const EVENTS = {
  table: 'votes',
  id: 'item',
  at: 'at',
  target: { table: 'items', value: 'votes', missing: 'refuse' },
} as const

const CRATERS = ['Aristarchus', 'Clavius', 'Copernicus', 'Kepler', 'Plato', 'Tycho']

/** Behind `INSERT INTO items (id, title) VALUES`. */
export const ITEM_ROWS: string = CRATERS.map((title, at) => `(${at + 1}, '${title}')`).join(', ')

/** Drivers tell integers of 64 bits as text. */
export function toItem(row: object): Item {
  const { id, title, votes } = row as Record<keyof Item, string | number>
  return { id: Number(id), title: String(title), votes: Number(votes) }
}

export function toRowCounts(rows: readonly object[]): Map<number, number> {
  const typed = rows as { item: string | number; votes: string | number }[]
  return new Map(typed.map(({ item, votes }) => [Number(item), Number(votes)]))
}
