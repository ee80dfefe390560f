// Counters and their databases, in random histories: see sql-history.ts. PERILUNE_LONG=1 plays 1,000.

import { Redis } from 'ioredis'
import { perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { LONG, SEED, tell } from '../proof.ts'
import { SqlHistory } from './sql-history.ts'

const HISTORIES = LONG ? 1000 : 25

test(`what was acknowledged is in the database once, or was named, in ${HISTORIES} histories`, {
  timeout: 3_600_000,
}, async () => {
  const client = new Redis({ host: '127.0.0.1', port: inject('redisPort') })
  const redis = perilune(ioredis(client), { namespace: `sql-${process.pid}` })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  for (let seed = SEED; seed < SEED + HISTORIES; seed++) {
    const { faults, story } = await new SqlHistory(redis, `history-${seed}`, seed).play()
    expect(faults, `seed ${seed}:\n${story.join('\n')}`).toEqual([])
  }
  tell(
    `counters and their databases, ${HISTORIES} histories from seed ${SEED}: nothing is missing, nothing is stuck`,
  )
})
