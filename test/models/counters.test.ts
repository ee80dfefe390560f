// Counters in random schedules, on the scripts and the library as they are shipped: see test/simulator.
// PERILUNE_LONG=1 plays 100,000.

import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { Driver } from '../../src/driver.ts'
import { ioredis } from '../../src/drivers/ioredis.ts'
import * as operations from '../../src/generated/counters.ts'
import { countOf, SEED, someOf, tell } from '../proof.ts'
import { type Happened, NOTHING, type Verdict } from '../simulator/happened.ts'
import { RULES, type Rule, withoutRule } from '../simulator/rules.ts'
import { playSchedule } from '../simulator/schedule.ts'

const SCHEDULES = countOf(100_000, 150)
const client = new Redis({ host: '127.0.0.1', port: inject('redisPort') })
const driver = ioredis(client)

const loadAll = (to: Driver): Promise<unknown> =>
  Promise.all(Object.values(operations).map(({ script }) => to.load(script)))

beforeAll(() => loadAll(driver))
afterAll(async () => {
  await driver.close()
  client.disconnect()
})

/** Schedules that are played at the same time: much of their time is waiting. */
const LANES = 8

/** Plays schedules until one of them has faults or all are over; answers those that were played, by their seeds. */
async function playAll(count: number, without: Rule | null): Promise<Map<number, Verdict>> {
  const verdicts = new Map<number, Verdict>()
  const edited = withoutRule(driver, without)
  await loadAll(edited)
  let [next, isOver] = [0, false]
  const lane = async (at: number): Promise<void> => {
    const namespace = `simulated-${process.pid}-${at}`
    while (next < count && !isOver) {
      const seed = SEED + next++
      const verdict = await playSchedule({ client, driver: edited, namespace, without }, seed)
      verdicts.set(seed, verdict)
      if (verdict.faults.length > 0) isOver = true
    }
  }
  await Promise.all(Array.from({ length: LANES }, (_, at) => lane(at)))
  return verdicts
}

/** The faults of the verdicts that have any, by their seeds. */
function faultsOf(verdicts: ReadonlyMap<number, Verdict>): [seed: number, faults: readonly string[]][] {
  return [...verdicts]
    .map(([seed, { faults }]) => [seed, faults] as [number, readonly string[]])
    .filter(([, faults]) => faults.length > 0)
}

test(`every increment arrives once, in ${SCHEDULES} schedules`, { timeout: 7_200_000 }, async () => {
  const verdicts = await playAll(SCHEDULES, null)

  const [shown] = faultsOf(verdicts)
  expect(shown?.[1], `seed ${shown?.[0]}:\n${verdicts.get(shown?.[0] ?? 0)?.story.join('\n')}`).toBe(
    undefined,
  )
  const totals: Happened = { ...NOTHING }
  for (const { happened } of verdicts.values()) {
    for (const key of Object.keys(totals) as (keyof Happened)[]) totals[key] += happened[key]
  }
  tell(`counters, ${verdicts.size} schedules from seed ${SEED}: ${JSON.stringify(totals)}`)
  expect(Math.min(...Object.values(totals))).toBeGreaterThan(0)
})

describe('without a rule of the protocol a history fails', () => {
  test.each(someOf(RULES, 2))('%s', { timeout: 300_000 }, async (rule) => {
    const [shown] = faultsOf(await playAll(10_000, rule))

    if (shown === undefined) throw new Error(`no schedule shows that it is needed: ${rule}`)
    tell(`counters without ${rule}: seed ${shown[0]} shows ${shown[1][0]}`)
  })
})
