// Our semaphore as it is shipped: compiled, one library for each connection.

import type { Redis } from 'ioredis'
import { builtLibrary } from '../harness/built.ts'
import { type Contender, PERILUNE, type Source, type Terms } from '../locks/contender.ts'

export const perilune: Contender = {
  name: PERILUNE,
  settings: 'one library for each connection; waiters are woken in order, no polling',
  async connect(connection: Redis, terms: Terms): Promise<Source> {
    const { perilune: open, ioredis } = await builtLibrary()
    const library = open(ioredis(connection), { deadline: '60s' })
    const semaphore = library.semaphore(terms.name, { limit: terms.limit, lease: `${terms.leaseMs}ms` })
    const acquire = async (): Promise<() => Promise<void>> => {
      const lease = await semaphore.acquire({ wait: `${terms.giveUpMs}ms` })
      return () => lease.release()
    }
    return { client: () => ({ tries: Number.NaN, acquire }), close: () => library.close() }
  },
}
