// What both of Zaqar's algorithms begin with, and how they store a message: as a hash of its own. The two
// round trips that ask whether the queue exists and for its metadata are left out.

import { randomUUID } from 'node:crypto'
import type { ChainableCommander } from 'ioredis'
import { LIFE_S } from './poster.ts'

export const INDEX = 'zaqar:{feed}:messages'
export const COUNTER = 'zaqar:{feed}:rank_counter'

export interface NewMessage {
  readonly id: string
  readonly body: string
}

export function toMessages(bodies: readonly string[]): NewMessage[] {
  return bodies.map((body) => ({ id: randomUUID(), body }))
}

/** The messages exist before anything points to them, so that what is indexed can be read. */
export async function storeMessages(
  transaction: ChainableCommander,
  messages: readonly NewMessage[],
): Promise<void> {
  const now = Math.floor(Date.now() / 1000)
  for (const { id, body } of messages) {
    const key = `zaqar:{feed}:${id}`
    transaction.hset(key, { id, t: LIFE_S, cr: now, e: now + LIFE_S, b: body, u: 'bench', c: '', 'c.e': 0 })
    transaction.expire(key, LIFE_S)
  }
  await transaction.exec()
}
