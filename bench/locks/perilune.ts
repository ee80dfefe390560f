// Our lock as it is shipped: compiled, one library for each connection.

import type { Redis } from 'ioredis'
import { builtLibrary } from '../harness/built.ts'
import { BARGING, type Contender, PERILUNE, type Source, type Terms } from './contender.ts'

export const perilune: Contender = toContender(PERILUNE, 'fair')

export const barging: Contender = toContender(BARGING, 'barging')

function toContender(name: string, order: 'fair' | 'barging'): Contender {
  return {
    name,
    settings: `order ${order}, one library for each connection; waiters are woken, nobody polls`,
    async connect(connection: Redis, terms: Terms): Promise<Source> {
      const { perilune: open, ioredis } = await builtLibrary()
      const library = open(ioredis(connection), { deadline: '60s' })
      const lock = library.lock(`${terms.name}:${order}`, { lease: `${terms.leaseMs}ms`, order })
      const acquire = async (): Promise<() => Promise<void>> => {
        const lease = await lock.acquire({ wait: `${terms.giveUpMs}ms` })
        return () => lease.release()
      }
      return { client: () => ({ tries: Number.NaN, acquire }), close: () => library.close() }
    },
  }
}
