// Random histories of three processes that work on one queue, one of which dies or stalls at some time: a job that is
// ready, due, or was held by the failed one is soon taken by another waiting process. PERILUNE_LONG=1 plays 3000.

import fc from 'fast-check'
import { Redis } from 'ioredis'
import { afterAll, expect, inject, test } from 'vitest'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { countOf, SEED, tell } from '../proof.ts'
import { LEASE_MS, World } from './queue-watching-world.ts'

/** A second, and a millisecond for what is rounded. */
const SOON_MS = 1001

const client = new Redis({ host: '127.0.0.1', port: inject('redisPort') })
const listening = client.duplicate()
const driver = ioredis(client)

afterAll(async () => {
  await driver.close()
  listening.disconnect()
  client.disconnect()
})

const process = fc.nat({ max: 2 })
/** More of one process than are looked at for one of another at first. */
const count = fc.constantFrom<number>(1, 1, 1, 15)
const join = fc.record({ do: fc.constant('join' as const), process, kind: fc.nat({ max: 1 }), count })
const leave = fc.record({ do: fc.constant('leave' as const), at: fc.nat({ max: 5 }) })
const enqueue = fc.record({ do: fc.constant('enqueue' as const), count: fc.integer({ min: 1, max: 3 }) })
const later = fc.record({ do: fc.constant('later' as const), ms: fc.integer({ min: 1, max: 6000 }) })
const pass = fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 2000 }) })
const how = fc.constantFrom('dies' as const, 'stands still' as const)
const fail = fc.record({ do: fc.constant('fail' as const), process, how })

const step = fc.oneof(join, leave, enqueue, later, pass, pass)
type StepOf<Kind> = Kind extends fc.Arbitrary<infer Each> ? Each : never
type Step = StepOf<typeof step> | StepOf<typeof fail>

const history = fc
  .tuple(
    fc.array(join, { minLength: 2, maxLength: 6 }),
    fc.array(step, { maxLength: 12, size: 'max' }),
    fail,
    fc.array(step, { maxLength: 4 }),
  )
  .map(([first, before, failure, after]): Step[] => [...first, ...before, failure, ...after])

async function play(world: World, each: Step): Promise<void> {
  const see = (): void => expect(world.overdue(SOON_MS)).toEqual([])
  if (each.do === 'join') for (let n = 0; n < each.count; n++) await world.join(each.process, each.kind)
  else if (each.do === 'leave') await world.leave(each.at)
  else if (each.do === 'enqueue') await world.enqueue(each.count)
  else if (each.do === 'later') await world.enqueueLater(each.ms)
  else if (each.do === 'fail') await world.fail(each.process, each.how)
  else await world.pass(each.ms, see)
}

/** A process that does not stall waits neither among the first ten nor among the last three. */
const inTheMiddle: Step[] = [
  { do: 'join', process: 0, kind: 0, count: 12 },
  { do: 'join', process: 1, kind: 0, count: 3 },
  { do: 'join', process: 0, kind: 0, count: 4 },
  { do: 'fail', process: 0, how: 'stands still' },
  { do: 'enqueue', count: 1 },
]

test('a free job is taken within a second by another waiting worker, whichever process fails', {
  timeout: 3_600_000,
}, async () => {
  const property = fc.asyncProperty(history, async (steps) => {
    const world = await World.begin(driver, listening)
    try {
      for (const each of [...steps, { do: 'pass', ms: 4 * LEASE_MS } as const]) await play(world, each)
    } finally {
      await world.end()
    }
  })
  const numRuns = countOf(3000, 60)

  await fc.assert(property, { numRuns, seed: SEED, examples: [[inTheMiddle]] })
  tell(`queue: ${numRuns} histories in which a process failed, seed ${SEED}`)
})
