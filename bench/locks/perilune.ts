// Our lock as it is shipped: compiled, one library for each connection.

import type { Redis } from 'ioredis'
import { builtLibrary } from '../harness/built.ts'
import { BARGING, type Contender, PERILUNE, type Source, type Terms } from './contender.ts'

export const perilune: Contender = toContender(PERILUNE, true)

export const barging: Contender = toContender(BARGING, false)

function toContender(name: string, fair: boolean): Contender {
  return {
    name,
    settings: `fair: ${fair}, one library for each connection; waiters are woken, no polling`,
    async connect(connection: Redis, terms: Terms): Promise<Source> {
      const { perilune: open, ioredis } = await builtLibrary()
      const library = open(ioredis(connection), { deadline: '60s' })
      const lock = library.lock(`${terms.name}:${fair ? 'fair' : 'barging'}`, {
        lease: `${terms.leaseMs}ms`,
        fair,
      })
      const acquire = async (): Promise<() => Promise<void>> => {
        const lease = await lock.acquire({ wait: `${terms.giveUpMs}ms` })
        return () => lease.release()
      }
      return { client: () => ({ tries: Number.NaN, acquire }), close: () => library.close() }
    },
  }
}
