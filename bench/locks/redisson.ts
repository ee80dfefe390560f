// node-redisson: a channel notifies waiters of a release. It opens its connections itself.

import type { Redis } from 'ioredis'
import { loadPeer } from '../harness/peers.ts'
import { type Client, type Contender, type Source, TERMS, type Terms } from './contender.ts'

interface Package {
  Redisson: new (options: { redis: { options: { port: number } } }) => Redisson
}

interface Redisson {
  readonly redis: Redis
  readonly commandExecutor: { readonly subscribeRedis: Redis }
  getLock(name: string): Lock
  quit(): Promise<void>
}

interface Lock {
  tryLock(waitMs: bigint, leaseMs: bigint): Promise<boolean>
  unlock(): Promise<void>
}

export const redisson: Contender = {
  name: 'node-redisson',
  peer: 'node-redisson',
  settings: `leaseTime ${TERMS.leaseMs}, eventAdapter pubsub (as by default); each waiter has an instance of its own`,
  // Who is woken unsubscribes the channel for all waiters of the instance: two of them lose wakes.
  ownConnection: true,
  async connect(connection: Redis, terms: Terms): Promise<Source> {
    const { Redisson } = loadPeer<Package>('node-redisson')
    const instance = new Redisson({ redis: { options: { port: connection.options.port ?? 0 } } })
    const subscriber = instance.commandExecutor.subscribeRedis
    return {
      client: () => toClient(instance, terms),
      connections: [instance.redis, subscriber],
      close: () => close(instance, subscriber),
    }
  },
}

function toClient(instance: Redisson, terms: Terms): Client {
  const acquire = async (): Promise<() => Promise<void>> => {
    const lock = instance.getLock(`redisson:${terms.name}`)
    const held = await lock.tryLock(BigInt(terms.giveUpMs), BigInt(terms.leaseMs))
    if (!held) throw new Error(`${terms.name} was not free for ${terms.giveUpMs} ms`)
    return () => lock.unlock()
  }
  return { tries: Number.NaN, acquire }
}

/** A timer of each wait unsubscribes up to a lease later; where that fails, the error is not caught. */
async function close(instance: Redisson, subscriber: Redis): Promise<void> {
  subscriber.unsubscribe = async (): Promise<number> => 0
  await instance.quit()
}
