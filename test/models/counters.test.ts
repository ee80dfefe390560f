// Counters in random schedules, on the scripts and the library as they are shipped: see test/simulator.
// PERILUNE_LONG=1 plays 100,000.

import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { ioredis } from '../../src/drivers/ioredis.ts'
import * as operations from '../../src/generated/counters.ts'
import { LONG, SEED, tell } from '../proof.ts'
import type { Rule } from '../simulator/database.ts'
import { type Happened, playSchedule, type Verdict } from '../simulator/schedule.ts'

const SCHEDULES = LONG ? 100_000 : 300
const client = new Redis({ host: '127.0.0.1', port: inject('redisPort') })
const driver = ioredis(client)

beforeAll(() => Promise.all(Object.values(operations).map(({ script }) => driver.load(script))))
afterAll(async () => {
  await driver.close()
  client.disconnect()
})

const play = (seed: number, without: Rule | null): Promise<Verdict> =>
  playSchedule({ client, driver, namespace: `simulated-${process.pid}`, without }, seed)

test(`every increment arrives once, in ${SCHEDULES} schedules`, { timeout: 7_200_000 }, async () => {
  const totals: Happened = { increments: 0, killed: 0, crashes: 0, wipes: 0, oldCopies: 0, lost: 0 }
  for (let at = 0; at < SCHEDULES; at++) {
    const { faults, happened } = await play(SEED + at, null)
    expect(faults, `seed ${SEED + at}`).toEqual([])
    for (const key of Object.keys(totals) as (keyof Happened)[]) totals[key] += happened[key]
  }
  tell(`counters, ${SCHEDULES} schedules from seed ${SEED}: ${JSON.stringify(totals)}`)
  expect(Math.min(...Object.values(totals))).toBeGreaterThan(0)
})

describe('without a rule of the protocol something goes wrong', () => {
  const rules: Rule[] = ['ledger', 'batch id', 'settle']
  test.each(rules)('%s', { timeout: 120_000 }, async (rule) => {
    for (let at = 0; at < 5000; at++) {
      const { faults } = await play(SEED + at, rule)
      if (faults.length > 0) return tell(`counters without ${rule}: schedule ${at + 1} shows ${faults[0]}`)
    }
    throw new Error(`no schedule shows that ${rule} is needed`)
  })
})
