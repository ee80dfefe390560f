// node-redisson: waiters are told of a release through a channel. It opens its connections itself.

import { EventEmitter } from 'node:events'
import type { Redis } from 'ioredis'
import { loadPeer } from '../harness/peers.ts'
import { type Contender, type Source, TERMS, type Terms } from './contender.ts'

interface Package {
  Redisson: new (options: { redis: { options: { port: number } } }) => Redisson
}

interface Redisson {
  readonly redis: Redis
  getLock(name: string): Lock
  quit(): Promise<void>
}

interface Lock {
  tryLock(waitMs: bigint, leaseMs: bigint): Promise<boolean>
  unlock(): Promise<void>
}

export const redisson: Contender = {
  name: 'node-redisson',
  settings: `leaseTime ${TERMS.leaseMs}, eventAdapter pubsub (as by default); unlock deletes a latch after its script`,
  async connect(connection: Redis, terms: Terms): Promise<Source> {
    // All its waiters listen to one emitter, which is no leak.
    EventEmitter.defaultMaxListeners = 0
    const { Redisson } = loadPeer<Package>('node-redisson')
    const redisson = new Redisson({ redis: { options: { port: connection.options.port ?? 0 } } })
    const acquire = async (): Promise<() => Promise<void>> => {
      const lock = redisson.getLock(`redisson:${terms.name}`)
      const held = await lock.tryLock(BigInt(terms.giveUpMs), BigInt(terms.leaseMs))
      if (!held) throw new Error(`${terms.name} was not free for ${terms.giveUpMs} ms`)
      return () => lock.unlock()
    }
    return {
      client: () => ({ tries: Number.NaN, acquire }),
      connections: [redisson.redis],
      close: () => redisson.quit(),
    }
  },
}
