import { loadPeer } from '../harness/peers.ts'
import type { Contender, Entry, Load, Source, Terms } from './contender.ts'

interface Cache {
  getOrSet(options: { key: string; factory: Load }): Promise<Entry>
  disconnectAll(): Promise<void>
}

interface Store {
  useL2Layer(driver: unknown): Store
}

interface Package {
  BentoCache: new (options: {
    default: 'redis'
    ttl: number
    prefix: string
    stores: { redis: Store }
  }) => Cache
  bentostore(): Store
}

interface Drivers {
  redisDriver(options: { connection: { port: number; enableAutoPipelining: boolean } }): unknown
}

const PEER = 'bentocache'

export const bentoCache: Contender = {
  name: 'BentoCache',
  peer: PEER,
  settings:
    'redis driver as second level, no first level, no bus, auto-pipelining on; no grace and no timeouts (as by default)',
  async connect(port: number, { freshMs }: Terms): Promise<Source> {
    const { BentoCache, bentostore } = loadPeer<Package>(PEER)
    const { redisDriver } = loadPeer<Drivers>(`${PEER}/drivers/redis`)
    const driver = redisDriver({ connection: { port, enableAutoPipelining: true } })
    const redis = bentostore().useL2Layer(driver)
    const cache = new BentoCache({ default: 'redis', ttl: freshMs, prefix: 'bento', stores: { redis } })
    return {
      get: (key, factory) => cache.getOrSet({ key, factory }),
      close: () => cache.disconnectAll(),
    }
  },
}
