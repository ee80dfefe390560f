// Servers in a topology of users, some of which can be made to fail.

import { ask } from '../../servers/ask.ts'
import type { Proxy } from '../../servers/proxy.ts'
import type { RedisServer } from '../../servers/redis.ts'
import type { Way } from '../way.ts'

/** A topology that runs. It serves many runs, one after the other. */
export interface Stage {
  readonly way: Way
  /** One in front of each server that keeps data, or of their common address. */
  readonly proxies: readonly Proxy[]
  /** Those that keep data. */
  readonly servers: readonly RedisServer[]
  /** Those of them that take writes now. */
  primaries(): Promise<readonly RedisServer[]>
  /** A planned failover of one primary, in which nothing that was acknowledged is lost. */
  switchover?(luck: () => number): Promise<void>
  /** A primary dies; resolves once another one has its place, or it has come back itself. */
  kill?(luck: () => number): Promise<void>
  /**
   * A primary is stopped and replaced; after a while it resumes and accepts writes of clients that are still connected.
   * Resolves once it is a primary no more.
   */
  standStill?(forAWhile: () => Promise<void>): Promise<void>
  /** Slots move, key by key, while clients use them. */
  moveSlots?(luck: () => number): Promise<void>
  /** A master comes, gets slots of another one, and goes again. */
  addMaster?(luck: () => number): Promise<void>
  /** Sets the clock of the servers ahead of the machine's by this much, or behind it. */
  setClock?(seconds: number): void
  /** Puts an older state of the data back; `meanwhile` passes between the copy and its return. */
  restore?(meanwhile: () => Promise<void>): Promise<void>
  /** Resolves once everything is up and follows whom it should. */
  whole(): Promise<void>
  stop(): Promise<void>
}

export interface Topology {
  /** Whether what a primary has acknowledged may be lost with it. */
  readonly replicated: boolean
  start(): Promise<Stage>
}

/** On all of these servers. */
export async function askAll(
  servers: readonly RedisServer[],
  command: string,
  ...args: (string | number)[]
): Promise<unknown[]> {
  return Promise.all(servers.map(({ port }) => ask(port, command, ...args)))
}
