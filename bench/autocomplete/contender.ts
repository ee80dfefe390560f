import type { Redis } from 'ioredis'

/** One client of a contender, on a connection of its own. */
export interface Client {
  suggest(prefix: string): Promise<unknown>
}

export interface Contender {
  readonly name: string
  /** Stores the members, all in one index. */
  load(connection: Redis, members: readonly Member[]): Promise<void>
  client(connection: Redis): Promise<Client>
}

export interface Member {
  readonly text: string
  readonly score: number
}

export const INDEX = 'bench'
export const PERILUNE = 'Perilune'
