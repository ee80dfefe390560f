// Random histories of recurring jobs on real scripts and on the model, which must spawn the same runs. A failure prints
// the seed and the shortest history that shows it.

import fc from 'fast-check'
import { Redis } from 'ioredis'
import { afterAll, expect, inject, test } from 'vitest'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { START_US } from '../../src/testing/test-clock.ts'
import { countOf, SEED, tell } from '../proof.ts'
import { QueueCalls } from './queue-calls.ts'
import { RecurrenceModel, type Rule, type Terms } from './recurrence-model.ts'

const client = new Redis({ host: '127.0.0.1', port: inject('redisPort') })
const driver = ioredis(client)
const START_MS = START_US / 1000
const IDS = ['a', 'b', 'c'] as const

afterAll(async () => {
  await driver.close()
  client.disconnect()
})

type Step =
  | { do: 'set'; id: string; rule: Rule; terms: Terms; again: boolean }
  | { do: 'remove'; id: string }
  | { do: 'refill'; id: string; rule: Rule | null; backMs: number; count: number; again: boolean }
  | { do: 'claim' }
  | { do: 'pause'; is: boolean }
  | { do: 'advance'; ms: number }

const is = <T extends string>(what: T): fc.Arbitrary<T> => fc.constant(what)
const id = fc.constantFrom(...IDS)
const again = fc.boolean()
const rule: fc.Arbitrary<Rule> = fc.constantFrom(
  { everyMs: 1000, offsetMs: 0, isCron: false },
  { everyMs: 7000, offsetMs: 500, isCron: false },
  { everyMs: 2000, offsetMs: 0, isCron: true },
  { everyMs: 5000, offsetMs: 0, isCron: true },
)
const terms: fc.Arbitrary<Terms> = fc.record({
  missed: fc.constantFrom(0, 1, 3),
  limit: fc.constantFrom(0, 0, 0, 2, 5),
  untilMs: fc.constantFrom(0, 0, 0, START_MS + 12_000, START_MS + 60_000),
})
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: is('set'), id, rule, terms, again }) },
  { weight: 1, arbitrary: fc.record({ do: is('remove'), id }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: is('refill'),
      id,
      // Mostly the one that it has.
      rule: fc.oneof({ weight: 8, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: rule }),
      backMs: fc.constantFrom(0, 0, 0, 4000, -1),
      count: fc.constantFrom(0, 1, 2, 5, 5, 30),
      again,
    }),
  },
  { weight: 10, arbitrary: fc.record({ do: is('claim') }) },
  { weight: 2, arbitrary: fc.record({ do: is('pause'), is: fc.constantFrom(false, false, true) }) },
  {
    weight: 10,
    arbitrary: fc.record({ do: is('advance'), ms: fc.constantFrom(1, 500, 1000, 3000, 12_000) }),
  },
)

class History {
  readonly #calls = new QueueCalls(driver)
  readonly #model = new RecurrenceModel(START_MS)
  spawned = 0

  async play(steps: readonly Step[]): Promise<void> {
    await this.#calls.setClock(START_US)
    for (const each of steps) {
      await this.#step(each)
      await this.#look()
    }
    await this.#calls.run('clear', {})
    await client.unlink(`${this.#calls.prefix}:clock`)
  }

  async #step(each: Step): Promise<void> {
    if (each.do === 'set') {
      this.#model.set(each.id, each.rule, each.terms)
      await this.#calls.run('recur', definitionOf(each))
      if (each.again) await this.#calls.run('recur', definitionOf(each))
    } else if (each.do === 'remove') {
      await this.#calls.same('unrecur', { id: each.id }, ['removed', this.#model.remove(each.id)])
    } else if (each.do === 'pause') {
      this.#model.isPaused = each.is
      await this.#calls.run('configure', { paused: each.is ? 1 : 0 })
    } else if (each.do === 'advance') {
      this.#model.nowMs += each.ms
      await this.#calls.setClock(this.#model.nowMs * 1000)
    } else if (each.do === 'claim') {
      await this.#claim()
    } else {
      await this.#refill(each)
    }
  }

  async #claim(): Promise<void> {
    const expected = this.#model.spawn()
    this.spawned += expected.length
    const answer = await this.#calls.run('ack-and-claim', { limit: 100, lease_ms: 1000 })
    const jobs = answer[8] as [number, number][]
    expect((answer[9] as [number, string][]).map(([, name]) => name)).toEqual(expected)
    // An acked job is forgotten: its id does not block a second one.
    const acks = jobs.map(([number, token]) => ({ number: String(number), token }))
    await this.#calls.run('ack-and-claim', { limit: 0, acks })
  }

  async #refill({
    id: of,
    rule: other,
    backMs,
    count,
    again: repeats,
  }: Step & { do: 'refill' }): Promise<void> {
    const found = this.#model.find(of)
    const by = other ?? found?.rule
    if (!by?.isCron) return
    const after = (found?.knownMs ?? START_MS) - backMs
    const given = this.#model.timesOf(by, after, count)
    const args = { id: of, cron: cronOf(by), time_zone: 'UTC', after_ms: after, given }
    for (let times = repeats ? 2 : 1; times > 0; times -= 1) {
      const word = this.#model.refill(of, by, after, given)
      const answer = await this.#calls.run('refill', args)
      expect(answer[0], JSON.stringify(args)).toBe(word)
    }
  }

  /** Checks what is shown of each, and that there is a chore while one needs times. */
  async #look(): Promise<void> {
    const [, , , rows] = await this.#calls.run('recurrences', {})
    const found = new Map((rows as (string | number)[][]).map((each) => [each[0], each]))
    for (const each of IDS) {
      const [, nextMs, lastMs, , runs] = found.get(each) ?? []
      const shown = found.has(each) ? { nextMs, lastMs, runs } : undefined
      expect(shown, each).toEqual(this.#model.shown(each))
    }
    const [, , , short] = await this.#calls.run('recurrences', { only_short: true })
    const [, , , , , , chores] = await this.#calls.run('ack-and-claim', { limit: 0 })
    expect(chores).toBe((short as unknown[]).length > 0 ? 1 : 0)
  }
}

function cronOf({ everyMs }: Rule): string {
  return `*/${everyMs / 1000} * * * * *`
}

function definitionOf({ id: of, rule: by, terms: bounds }: Step & { do: 'set' }) {
  const when = by.isCron
    ? { every_ms: 0, cron: cronOf(by), time_zone: 'UTC' }
    : { every_ms: by.everyMs, offset_ms: by.offsetMs }
  return { id: of, ...when, missed: bounds.missed, limit: bounds.limit, until_ms: bounds.untilMs }
}

test('recurring jobs are spawned in every history as by the model', { timeout: 3_600_000 }, async () => {
  // The first histories that are drawn are short: a third of the usual number would spawn next to nothing.
  const numRuns = Math.max(countOf(5000, 60), 60)
  let spawned = 0
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 1, maxLength: 60, size: 'max' }),
    async (steps) => {
      const history = new History()
      await history.play(steps)
      spawned += history.spawned
    },
  )

  await fc.assert(property, { numRuns, seed: SEED })

  expect(spawned).toBeGreaterThan(numRuns / 2)
  tell(`recurring jobs: ${spawned} runs of ${numRuns} random histories as by the model, seed ${SEED}`)
})
