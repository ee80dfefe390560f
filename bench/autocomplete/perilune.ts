import type { Redis } from 'ioredis'
import type { Autocomplete } from 'perilune'
import { builtLibrary } from '../harness/built.ts'
import { type Client, type Contender, INDEX, type Member, PERILUNE } from './contender.ts'

const BATCH = 10_000

async function open(connection: Redis): Promise<Autocomplete> {
  const { perilune: start, ioredis } = await builtLibrary()
  return start(ioredis(connection), { deadline: '60s' }).autocomplete(INDEX)
}

async function load(connection: Redis, members: readonly Member[]): Promise<void> {
  const index = await open(connection)
  for (let at = 0; at < members.length; at += BATCH) await index.addMany(members.slice(at, at + BATCH))
}

export const perilune: Contender = {
  name: PERILUNE,
  load,
  async client(connection): Promise<Client> {
    const index = await open(connection)
    return { suggest: (prefix) => index.suggest(prefix) }
  },
}
