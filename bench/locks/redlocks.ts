// redlock and its maintained fork: the same algorithm with the same interface, here on one server.

import type { Redis } from 'ioredis'
import { loadPeer } from '../harness/peers.ts'
import { type Contender, type Source, TERMS, type Terms } from './contender.ts'

interface Redlock {
  acquire(resources: readonly string[], durationMs: number): Promise<{ release(): Promise<unknown> }>
}

interface Settings {
  readonly retryCount: number
  readonly retryDelay: number
  readonly retryJitter: number
}

type RedlockClass = new (clients: readonly Redis[], settings: Settings) => Redlock

export const redlock: Contender = toContender('redlock')

export const sesamecare: Contender = toContender('@sesamecare-oss/redlock')

function toContender(name: string): Contender {
  return {
    name,
    peer: name,
    settings: `retryDelay ${TERMS.retryMs} (default 200), retryJitter 0 (100), retryCount to the end (10)`,
    async connect(connection: Redis, terms: Terms): Promise<Source> {
      const module = loadPeer<{ default?: RedlockClass; Redlock?: RedlockClass }>(name)
      const found = module.Redlock ?? module.default
      if (found === undefined) throw new Error(`${name} exports no Redlock`)
      const { retryMs: retryDelay, leaseMs } = terms
      const retryCount = Math.ceil(terms.giveUpMs / retryDelay)
      const locks = new found([connection], { retryCount, retryDelay, retryJitter: 0 })
      const key = `redlock:${terms.name}`
      const acquire = async (): Promise<() => Promise<unknown>> => {
        const lock = await locks.acquire([key], leaseMs)
        return () => lock.release()
      }
      return { client: () => ({ tries: Number.NaN, acquire }), close: async () => {} }
    },
  }
}
