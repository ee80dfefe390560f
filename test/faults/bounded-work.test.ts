// The cost of a script call must not grow with the content of the structure: no more commands, and no more elements, at
// 2,700 entries (a million with PERILUNE_LONG=1) than at 2,000.

import { Redis } from 'ioredis'
import { ioredis } from 'perilune/ioredis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import contract from '../../lua/contract.json' with { type: 'json' }
import { withTestClock } from '../../src/testing/test-clock.ts'
import { LONG, someOf, tell } from '../proof.ts'
import { ask } from '../servers/ask.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import { METER, type Metered, metering, parseMetered } from './metered-driver.ts'
import { placeOn } from './uses/place.ts'
import { allUses, type Work } from './uses/use.ts'

// More than any call may look at, so that both sizes meet the same bounds.
const SMALL = 2000
const LARGE = LONG ? 1_000_000 : 2700

let server: RedisServer

beforeAll(async () => {
  server = await startRedis()
})

afterAll(() => server.stop())

describe.each(await allUses())('of the $structure', ({ structure, works }) => {
  test.each(someOf(works, Math.ceil(works.length / 4)))(
    `$what costs no more at ${LARGE} entries than at ${SMALL}`,
    { timeout: LONG ? 600_000 : 120_000 },
    async (work) => {
      const { port } = server
      await ask(port, 'FLUSHALL')

      const few = costliest(await callsOf(port, work, SMALL))
      const many = costliest(await callsOf(port, work, LARGE))

      expect([...many.keys()], 'what was counted').not.toEqual([])
      const { chance = 0 } = work
      for (const [script, { commands, elements }] of many) {
        tell(`${structure}, ${work.what}: ${script} ${commands} commands, ${elements} elements at ${LARGE}`)
        const before = few.get(script)
        const most = (own: number | undefined, all: number): number => Math.min((own ?? all) + chance, all)
        expect(commands, `commands of ${script}`).toBeLessThanOrEqual(most(before?.commands, work.commands))
        expect(elements, `elements of ${script}`).toBeLessThanOrEqual(most(before?.elements, work.elements))
      }
    },
  )
})

async function callsOf(port: number, work: Work, size: number): Promise<Metered[]> {
  const client = new Redis(port)
  onTestFinished(() => client.disconnect())
  // To count takes longer than what is counted: it begins when all is prepared.
  let isPrepared = false
  const driver = metering(withTestClock(ioredis(client), contract.clock), () => isPrepared)
  const place = await placeOn({ port, driver, deadline: '60s' })
  const call = await work.prepare(place, size)
  isPrepared = true
  await call()
  return (await client.lrange(METER, 0, -1)).map(parseMetered)
}

type Cost = Pick<Metered, 'commands' | 'elements'>

/** The maximum of all calls that one use made of a script. */
function costliest(calls: readonly Metered[]): Map<string, Cost> {
  const most = new Map<string, Cost>()
  for (const { script, commands, elements } of calls) {
    const known = most.get(script) ?? { commands: 0, elements: 0 }
    most.set(script, {
      commands: Math.max(known.commands, commands),
      elements: Math.max(known.elements, elements),
    })
  }
  return most
}
