// Counters and their databases, in random histories: see sql-history.ts. PERILUNE_LONG=1 plays 1,000, a fifth of them
// each on PostgreSQL and on MariaDB.

import { Redis } from 'ioredis'
import { perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { countOf, SEED, tell } from '../proof.ts'
import type { DatabaseServer } from '../servers/database-server.ts'
import { startPostgres } from '../servers/postgres.ts'
import { databasePort } from '../servers/shared-database.ts'
import { SqlHistory } from './sql-history.ts'
import { mariadbWorld, postgresWorld, sqliteWorld, type World } from './sql-worlds.ts'

const HISTORIES = countOf(1000, 15)

/** A server of its own: open transactions of other tests would delay the roll-up. */
let server: DatabaseServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.stop())

async function worldOf(seed: number): Promise<World> {
  if (seed % 5 === 0) return postgresWorld(server.port)
  return seed % 5 === 1 ? mariadbWorld(await databasePort('mariadb')) : sqliteWorld()
}

test(`what was acknowledged is in the database once, or was named, in ${HISTORIES} histories`, {
  timeout: 3_600_000,
}, async () => {
  const client = new Redis({ host: '127.0.0.1', port: inject('redisPort') })
  const redis = perilune(ioredis(client), { namespace: `sql-${process.pid}` })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  const played: Record<string, number> = {}
  for (let seed = SEED; seed < SEED + HISTORIES; seed++) {
    const world = await worldOf(seed)
    const { faults, story } = await new SqlHistory(redis, world, `history-${seed}`, seed).play()
    await world.close()
    played[world.name] = (played[world.name] ?? 0) + 1
    expect(faults, `seed ${seed}:\n${story.join('\n')}`).toEqual([])
  }
  const shares = Object.entries(played).map(([name, count]) => `${count} on ${name}`)
  tell(
    `counters and their databases, ${HISTORIES} histories from seed ${SEED} (${shares.join(', ')}): nothing is missing, nothing is stuck`,
  )
})
