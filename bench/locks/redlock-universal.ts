import type { Redis } from 'ioredis'
import { loadPeer } from '../harness/peers.ts'
import { type Client, type Contender, type Source, TERMS, type Terms } from './contender.ts'

interface Lock {
  acquire(): Promise<object>
  release(handle: object): Promise<boolean>
}

interface Options {
  readonly adapter: object
  readonly key: string
  readonly ttl: number
  readonly retryAttempts: number
  readonly retryDelay: number
  /** `lean` leaves out the monitoring. */
  readonly performance: 'lean'
}

interface Package {
  IoredisAdapter: new (client: Redis) => object
  createLock(options: Options): Lock
}

export const redlockUniversal: Contender = {
  name: 'redlock-universal',
  peer: 'redlock-universal',
  settings: `performance lean (default standard), retryDelay ${TERMS.retryMs} (100), retryAttempts to the end (3)`,
  async connect(connection: Redis, terms: Terms): Promise<Source> {
    const { createLock, IoredisAdapter } = loadPeer<Package>('redlock-universal')
    const options: Options = {
      adapter: new IoredisAdapter(connection),
      key: `universal:${terms.name}`,
      ttl: terms.leaseMs,
      retryAttempts: Math.ceil(terms.giveUpMs / terms.retryMs),
      retryDelay: terms.retryMs,
      performance: 'lean',
    }
    return { client: () => toClient(createLock(options)), close: async () => {} }
  },
}

function toClient(lock: Lock): Client {
  const acquire = async (): Promise<() => Promise<boolean>> => {
    const handle = await lock.acquire()
    return () => lock.release(handle)
  }
  return { tries: Number.NaN, acquire }
}
