// Counters whose counts are in SQL, in random histories: see shown-history.ts. PERILUNE_LONG=1 plays 20,000.

import { Redis } from 'ioredis'
import { afterAll, describe, expect, inject, test } from 'vitest'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { countOf, LONG, SEED, tell } from '../proof.ts'
import { History, type Rule, type Verdict } from './shown-history.ts'

const HISTORIES = countOf(20_000, 45)
/** The seeds to skip so that a search finds a fault soon; it continues from there. A long run starts at the first. */
const SOON: Readonly<Record<Rule, number>> = {
  'no version is left out': 37,
  'nothing is shown that was read too early': 83,
  'what is noted of absent values stays noted': 439,
}
const client = new Redis({ host: '127.0.0.1', port: inject('redisPort') })
const driver = ioredis(client)

afterAll(async () => {
  await driver.close()
  client.disconnect()
})

function play(seed: number, without: Rule | null = null): Promise<Verdict> {
  const namespace = `shown-${process.pid}-${seed}`
  return new History({ client, driver, namespace, without }, seed).play()
}

test(`at rest SQL has its rows and Redis shows them, in ${HISTORIES} histories`, {
  timeout: 3_600_000,
}, async () => {
  for (let seed = SEED; seed < SEED + HISTORIES; seed++) {
    const { faults, story } = await play(seed)
    expect(faults, `seed ${seed}:\n${story.join('\n')}`).toEqual([])
  }
  tell(`counters of SQL, ${HISTORIES} histories from seed ${SEED}: nothing is wrong at rest`)
})

describe('a history fails without the rule that', () => {
  test.each(Object.keys(SOON) as Rule[])('%s', { timeout: 120_000 }, async (rule) => {
    const first = LONG ? SEED : SEED + SOON[rule]
    for (let seed = first; seed < first + 3000; seed++) {
      const [fault] = (await play(seed, rule)).faults
      if (fault === undefined) continue
      tell(`counters of SQL without "${rule}": seed ${seed} shows ${fault}`)
      return
    }
    throw new Error(`no history shows that it is needed: ${rule}`)
  })
})
