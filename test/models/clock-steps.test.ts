// Queues whose server's clock steps back and leaps ahead at random moments, judged by the time that really passes:
// rates and recurring jobs neither stand still nor come too often.

import fc from 'fast-check'
import { Redis } from 'ioredis'
import { afterAll, expect, inject, test } from 'vitest'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { START_US } from '../../src/testing/test-clock.ts'
import type { Arguments } from '../../src/testing/vector-contract.ts'
import { countOf, SEED } from '../proof.ts'
import { QueueCalls } from './queue-calls.ts'

const client = new Redis({ host: '127.0.0.1', port: inject('redisPort') })
const driver = ioredis(client)

afterAll(async () => {
  await driver.close()
  client.disconnect()
})

const TICK_MS = 100
const TICKS = 120
const WINDOW_MS = 1000
const LIMIT = 4

/** After so many ticks the clock is set by so much. */
type Steps = ReadonlyMap<number, number>

const steps: fc.Arbitrary<Steps> = fc
  .array(
    fc.tuple(
      fc.integer({ min: 1, max: TICKS - 1 }),
      fc.constantFrom(-300, -1500, -10_000, -3_600_000, 3_600_000),
    ),
    { maxLength: 5 },
  )
  .map((all) => new Map(all))

interface Start {
  /** The time that has really passed since the history began. */
  readonly trueMs: number
  readonly clockMs: number
  readonly id: string
}

/** Claims each tick all that it gets, and acks it; then sees to what is `due` besides. */
async function play(
  prepare: (calls: QueueCalls) => Promise<void>,
  sets: Steps,
  due?: (calls: QueueCalls, clockMs: number) => Promise<void>,
): Promise<Start[]> {
  const calls = new QueueCalls(driver)
  const starts: Start[] = []
  let clockMs = START_US / 1000
  await calls.setClock(clockMs * 1000)
  await prepare(calls)
  for (let tick = 0; tick < TICKS; tick += 1) {
    clockMs += TICK_MS + (sets.get(tick) ?? 0)
    await calls.setClock(clockMs * 1000)
    const answer = await calls.run('ack-and-claim', { limit: 100, worker: 'w.1' })
    const ids = new Map((answer[9] as [number, string][]).map(([at, id]) => [at, id]))
    const jobs = answer[8] as [number, number][]
    for (const at of jobs.keys()) starts.push({ trueMs: tick * TICK_MS, clockMs, id: ids.get(at) ?? '' })
    await calls.run('ack-and-claim', { limit: 0, acks: jobs.map(([number, token]) => ({ number, token })) })
    await due?.(calls, clockMs)
  }
  await calls.run('clear', {})
  await client.unlink(`${calls.prefix}:clock`)
  return starts
}

/** The longest time in truth without a start since the one before, or since the clock was set. */
function longestPause(starts: readonly Start[], sets: Steps): number {
  const begins = [0, ...starts.map(({ trueMs }) => trueMs), ...[...sets.keys()].map((tick) => tick * TICK_MS)]
  const all = [...begins, TICKS * TICK_MS].toSorted((one, other) => one - other)
  return Math.max(...all.slice(1).map((end, at) => end - (all[at] ?? 0)))
}

/** The most starts in a window of the time that passes in truth, above what leaps ahead let flow back within it. */
function mostStarts(starts: readonly Start[], sets: Steps, burst: number): number {
  const leaps = [...sets].filter(([, ms]) => ms > 0).map(([tick]) => tick * TICK_MS)
  const isWithin = (ms: number, from: number): boolean => ms >= from && ms < from + WINDOW_MS
  return Math.max(
    ...starts.map(({ trueMs: from }) => {
      const inside = starts.filter(({ trueMs }) => isWithin(trueMs, from)).length
      return inside - burst * leaps.filter((leap) => isWithin(leap, from)).length
    }),
  )
}

const payloads = Array.from({ length: 100 }, (_, at) => String(at))
const rates: Record<string, (calls: QueueCalls, rate: Arguments) => Promise<void>> = {
  'a queue': async (calls, rate) => {
    await calls.run('configure', rate)
    for (let nth = 0; nth < 3; nth += 1) await calls.run('enqueue-alike', { payloads })
  },
  'a group': async (calls, rate) => {
    await calls.run('configure-group', { name: 'a', ...rate })
    // Some that are held back for longer than the clock ever is.
    for (const name of ['b', 'c', 'd']) {
      await calls.run('configure-group', { name, rate_limit: 1, rate_window_ms: 2_592_000_000 })
    }
    const specs = payloads.map((payload) => ({ payload, group: 'a' }))
    for (let nth = 0; nth < 3; nth += 1) await calls.run('enqueue', { specs })
  },
}

for (const [what, prepare] of Object.entries(rates)) {
  test.each([LIMIT, 1, 3])(
    `${what} starts what its rate allows, whatever its clock does, with a burst of %i`,
    { timeout: 900_000 },
    async (burst) => {
      const rate = { rate_limit: LIMIT, rate_window_ms: WINDOW_MS, rate_burst: burst }
      const property = fc.asyncProperty(steps, async (sets) => {
        const starts = await play((calls) => prepare(calls, rate), sets)
        // No window of a burst of 1 has more than the limit.
        expect(mostStarts(starts, sets, burst)).toBeLessThanOrEqual(LIMIT + burst - 1)
        expect(longestPause(starts, sets)).toBeLessThanOrEqual(WINDOW_MS + TICK_MS)
      })

      await fc.assert(property, { numRuns: countOf(200, 4), seed: SEED })
    },
  )
}

test('an interval continues, whatever the clock does, and runs each time once whenever its time arrives', {
  timeout: 900_000,
}, async () => {
  const property = fc.asyncProperty(steps, async (sets) => {
    const starts = await play(
      (calls) => calls.run('recur', { every_ms: WINDOW_MS }).then(() => undefined),
      sets,
    )

    // Within two intervals; but a step of less than a second is not seen, and waited for.
    expect(longestPause(starts, sets)).toBeLessThanOrEqual(3 * WINDOW_MS + TICK_MS)
    for (const [at, { id, clockMs }] of starts.entries()) {
      const runMs = Number(id.split('@')[1])
      expect(runMs).toBeLessThanOrEqual(clockMs)
      const before = starts[at - 1]
      if (before !== undefined && before.clockMs <= clockMs) {
        expect(runMs, 'no run comes twice').toBeGreaterThan(Number(before.id.split('@')[1]))
      }
    }
  })

  await fc.assert(property, { numRuns: countOf(200, 4), seed: SEED })
})

const CRON = { cron: '* * * * * *', time_zone: 'UTC' }

/** Supplies the coming times of an expression that is short of them. */
async function refill(calls: QueueCalls, clockMs: number): Promise<void> {
  const [, , , rows] = await calls.run('recurrences', { only_short: true })
  for (const [id, , , , , known] of rows as [string, number, number, number, number, number][]) {
    const from = Math.floor(Math.max(known, clockMs - WINDOW_MS) / WINDOW_MS)
    const given = Array.from({ length: 50 }, (_, at) => (from + 1 + at) * WINDOW_MS)
    await calls.run('refill', { id, ...CRON, after_ms: known, given })
  }
}

test.each([0, START_US / 1000 + 2 * TICKS * TICK_MS])(
  'an expression continues, whatever the clock does, with its end at %i',
  { timeout: 900_000 },
  async (until_ms) => {
    // A recurrence with an end has no runs left once the clock has leapt past it.
    const played = until_ms === 0 ? steps : steps.map((all) => new Map([...all].filter(([, ms]) => ms < 0)))
    const property = fc.asyncProperty(played, async (sets) => {
      const prepare = (calls: QueueCalls): Promise<void> =>
        calls.run('recur', { every_ms: 0, ...CRON, until_ms }).then(() => undefined)
      const starts = await play(prepare, sets, refill)

      expect(longestPause(starts, sets)).toBeLessThanOrEqual(3 * WINDOW_MS + TICK_MS)
    })

    await fc.assert(property, { numRuns: countOf(200, 4), seed: SEED })
  },
)
