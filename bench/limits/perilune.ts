import type { Redis } from 'ioredis'
import { builtLibrary } from '../harness/built.ts'
import { type Contender, LIMIT, PERILUNE, type Source, WINDOW_S } from './contender.ts'

export const perilune: Contender = {
  name: PERILUNE,
  settings: `GCRA (as by default), limit ${LIMIT}, window ${WINDOW_S}s`,
  async connect(connection: Redis): Promise<Source> {
    const { perilune: open, ioredis } = await builtLibrary()
    const library = open(ioredis(connection), { deadline: '60s' })
    const limits = library.rateLimit('bench', { limit: LIMIT, window: `${WINDOW_S}s` })
    return { take: (subject) => limits.take(subject), close: () => library.close() }
  },
}
