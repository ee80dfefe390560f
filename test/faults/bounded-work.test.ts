// What a script call costs the server must not grow with what the structure holds: no more commands, and no
// more elements, at five thousand entries (a million with PERILUNE_LONG=1) than at two thousand.

import { Redis } from 'ioredis'
import { ioredis } from 'perilune/ioredis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import contract from '../../lua/contract.json' with { type: 'json' }
import { withTestClock } from '../../src/testing/test-clock.ts'
import { LONG, tell } from '../proof.ts'
import { ask } from '../servers/ask.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import { METER, type Metered, metering, parseMetered } from './metered-driver.ts'
import { placeOn } from './uses/place.ts'
import { allUses, type Place, type Work } from './uses/use.ts'

// More than any call may look at, so that both sizes meet the same bounds.
const SMALL = 2000
const LARGE = LONG ? 1_000_000 : 5000

let server: RedisServer

beforeAll(async () => {
  server = await startRedis()
})

afterAll(() => server.stop())

describe.each(await allUses())('of the $structure', ({ structure, works }) => {
  test.each(works)(
    `$what costs no more at ${LARGE} entries than at ${SMALL}`,
    { timeout: LONG ? 600_000 : 120_000 },
    async (work) => {
      const { port } = server
      await ask(port, 'FLUSHALL')

      const few = costliest(await callsOf(await meteredPlace(port), work, SMALL))
      const many = costliest(await callsOf(await meteredPlace(port), work, LARGE))

      tell(`${structure}, ${work.what}: ${many.commands} commands, ${many.elements} elements at ${LARGE}`)
      const { chance = 0 } = work
      expect(many.commands, 'commands').toBeLessThanOrEqual(Math.min(few.commands + chance, work.commands))
      expect(many.elements, 'elements').toBeLessThanOrEqual(Math.min(few.elements + chance, work.elements))
    },
  )
})

async function meteredPlace(port: number): Promise<Place> {
  const client = new Redis(port)
  onTestFinished(() => client.disconnect())
  const driver = metering(withTestClock(ioredis(client), contract.clock))
  return placeOn({ port, driver, deadline: '60s' })
}

async function callsOf(place: Place, work: Work, size: number): Promise<Metered[]> {
  const call = await work.prepare(place, size)
  await place.client.del(METER)
  await call()
  return (await place.client.lrange(METER, 0, -1)).map(parseMetered)
}

/** Of all calls that one use made, the most of each. */
function costliest(calls: readonly Metered[]): { commands: number; elements: number } {
  const most = (values: number[]): number => values.reduce((one, other) => Math.max(one, other), 0)
  return {
    commands: most(calls.map(({ commands }) => commands)),
    elements: most(calls.map(({ elements }) => elements)),
  }
}
