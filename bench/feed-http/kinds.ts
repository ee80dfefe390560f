// What is measured: kinds of requests, at numbers of connections.

import { bulkPost, claims, pages, posts } from './requests.ts'

interface Requests {
  /** Sent in turn. */
  readonly requests: readonly string[]
  /** Of a round, all connections together. */
  readonly count: number
}

export interface Kind extends Requests {
  readonly name: string
  readonly connections: number
  /** What is posted before, on one connection. */
  readonly before: Requests
}

const BULK = 1000
const PER_CLAIM = 20
const NOTHING: Requests = { requests: [], count: 0 }

const toPost = (connections: number, count: number): Kind => ({
  name: `post, ${connections} connections`,
  connections,
  requests: posts(),
  count,
  before: NOTHING,
})

const toRead = (connections: number, count: number): Kind => ({
  name: `page of 20, ${connections} connections`,
  connections,
  requests: pages(),
  count,
  before: { requests: [bulkPost(BULK)], count: 1 },
})

/** Every claim finds as many messages as it may take. */
const toClaim = (connections: number, count: number): Kind => ({
  name: `claim of 20, ${connections} connections`,
  connections,
  requests: claims(),
  count,
  before: { requests: [bulkPost(BULK)], count: Math.ceil(((count + connections) * PER_CLAIM) / BULK) },
})

export const KINDS: readonly Kind[] = [
  toPost(1, 4000),
  toPost(16, 40_000),
  toPost(64, 60_000),
  toPost(256, 60_000),
  toPost(3000, 60_000),
  toRead(1, 3000),
  toRead(16, 15_000),
  toRead(64, 15_000),
  toClaim(1, 1000),
  toClaim(16, 3000),
]

export const QUICK_KINDS: readonly Kind[] = [
  toPost(1, 500),
  toPost(16, 2000),
  toPost(64, 2000),
  toRead(16, 1000),
  toRead(64, 1000),
  toClaim(16, 200),
]
