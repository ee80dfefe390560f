// Two caches that stand on Keyv, here with its adapter for Redis alone.

import { loadPeer } from '../harness/peers.ts'
import type { Contender, Entry, Load, Source, Terms } from './contender.ts'

interface Keyv {
  disconnect(): Promise<void>
}

interface KeyvRedis {
  createKeyv(url: string, options: { namespace: string }): Keyv
}

interface Cacheable {
  Cacheable: new (options: {
    primary: Keyv
    ttl: number
  }) => {
    getOrSet(key: string, load: Load): Promise<Entry | undefined>
  }
}

interface CacheManager {
  createCache(options: { stores: Keyv[]; ttl: number }): {
    wrap(key: string, load: Load): Promise<Entry | undefined>
  }
}

const STORE = '@keyv/redis'

export const cacheable: Contender = {
  name: 'cacheable',
  peer: 'cacheable',
  settings: `getOrSet; ${STORE} as its first level, no second one, nothing else set`,
  async connect(port: number, { freshMs: ttl }: Terms): Promise<Source> {
    const { Cacheable } = loadPeer<Cacheable>('cacheable')
    const primary = openKeyv(port, 'cacheable')
    const cache = new Cacheable({ primary, ttl })
    return { get: (key, load) => cache.getOrSet(key, load), close: () => primary.disconnect() }
  },
}

export const cacheManager: Contender = {
  name: 'cache-manager',
  peer: 'cache-manager',
  settings: `wrap; ${STORE} as its only store, no refreshThreshold (as by default)`,
  async connect(port: number, { freshMs: ttl }: Terms): Promise<Source> {
    const { createCache } = loadPeer<CacheManager>('cache-manager')
    const store = openKeyv(port, 'manager')
    const cache = createCache({ stores: [store], ttl })
    return { get: (key, load) => cache.wrap(key, load), close: () => store.disconnect() }
  },
}

function openKeyv(port: number, namespace: string): Keyv {
  return loadPeer<KeyvRedis>(STORE).createKeyv(`redis://127.0.0.1:${port}`, { namespace })
}
