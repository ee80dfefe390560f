// Random histories of one collection on real scripts and on the model, which must answer the same. A failure prints the
// seed and the shortest failing history. PERILUNE_LONG=1 plays a hundred times as many.

import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { afterAll, expect, inject, test } from 'vitest'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { runOperation } from '../../src/testing/run-operation.ts'
import { START_US, setTestClock } from '../../src/testing/test-clock.ts'
import type { Arguments } from '../../src/testing/vector-contract.ts'
import { argumentsOf } from '../../src/testing/vector-file.ts'
import { faultsOfUnit } from '../audit/audit.ts'
import { readContract, readVectors } from '../conformance/files.ts'
import { countOf, SEED, tell } from '../proof.ts'
import { CollectionModel, EXPIRE_MS, type Sent } from './collection-model.ts'

const client = new Redis({ host: '127.0.0.1', port: inject('redisPort') })
const driver = ioredis(client)
const contract = readContract()
const vectors = readVectors('collection')

afterAll(async () => {
  await driver.close()
  client.disconnect()
})

type Step =
  | { do: 'replace'; sent: Sent; repeated: boolean }
  | { do: 'build'; sent: Sent; behind: boolean }
  | { do: 'switch-in'; version: number; whole: boolean; repeated: boolean }
  | { do: 'add'; sent: Sent; limit: number; repeated: boolean }
  | { do: 'remove'; values: string[]; repeated: boolean }
  | { do: 'read'; limit: number; on: boolean }
  | { do: 'clear' | 'evict' }
  | { do: 'advance'; ms: number }

const item = fc.tuple(fc.integer({ min: -3, max: 3 }), fc.constantFrom('a', 'b', 'c', 'd', 'e'))
/** No value twice: so the library sends them. */
const items = fc.uniqueArray(item, { maxLength: 5, selector: ([, value]) => value })
const version = fc.constantFrom(-1, -1, 1, 2, 3)
const sent = fc.record({ version, items })

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('replace' as const), sent, repeated: fc.boolean() }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('build' as const), sent, behind: fc.boolean() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('switch-in' as const),
      version,
      whole: fc.boolean(),
      repeated: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('add' as const),
      sent,
      limit: fc.constantFrom(0, 0, 3, 4),
      repeated: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('remove' as const),
      values: fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { maxLength: 2 }),
      repeated: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('read' as const),
      limit: fc.integer({ min: 1, max: 4 }),
      on: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('clear' as const, 'evict' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      ms: fc.constantFrom(1, 1000, 4999, 5000, -700),
    }),
  },
)

/** One history: the calls to the collection and the model, the build under way and the newest page. */
class History {
  readonly #prefix = `conformance:{collection:${randomUUID()}}`
  readonly #kind: 'list' | 'sortedSet'
  readonly #model: CollectionModel
  #call = 0
  #built = 0
  #marker: { copy: number; place: string } = { copy: 0, place: '0' }

  constructor(kind: 'list' | 'sortedSet') {
    this.#kind = kind
    this.#model = new CollectionModel(START_US, kind === 'sortedSet')
  }

  /** Resolves to how many steps it had. */
  async play(steps: readonly Step[]): Promise<number> {
    await this.#advance(0)
    let isWhole = true
    for (const each of steps) {
      await this.#step(each)
      if (each.do === 'evict') isWhole = false
      if (isWhole)
        expect(await faultsOfUnit(client, this.#prefix, Math.floor(this.#model.nowUs / 1000))).toEqual([])
    }
    await this.#read({ limit: 100, on: false })
    await this.#expectSame('clear', {}, this.#model.clear())
    return steps.length
  }

  #step(each: Step): Promise<void> {
    switch (each.do) {
      case 'replace':
        return this.#replace(each.sent, each.repeated)
      case 'build':
        return this.#build(each.sent, each.behind)
      case 'switch-in':
        return this.#switchIn(each.version, each.whole, each.repeated)
      case 'add':
        return this.#add(each)
      case 'remove':
        return this.#remove(each)
      case 'read':
        return this.#read(each)
      case 'clear':
        return this.#expectSame('clear', {}, this.#model.clear())
      case 'evict':
        return this.#evict()
      default:
        return this.#advance(each.ms)
    }
  }

  #replace(what: Sent, repeated: boolean): Promise<void> {
    const args = { version: what.version, ttl_ms: EXPIRE_MS, parts: this.#partsOf(what) }
    return this.#onceOrTwice('replace', args, this.#model.replace(what), repeated)
  }

  async #build(what: Sent, behind: boolean): Promise<void> {
    const before = behind ? this.#built : 0
    const fitting = {
      ...what,
      items: what.items.map(([score, value]) => [score, `${before}${value}`] as const),
    }
    const args = { version: what.version, before, count: what.items.length, parts: this.#partsOf(fitting) }
    const expected = this.#model.build(fitting, 'one', before)
    await this.#expectSame('build', args, expected)
    if (expected[0] === 'built') this.#built = Number(expected[1])
  }

  async #switchIn(newer: number, whole: boolean, repeated: boolean): Promise<void> {
    const size = whole ? this.#built : this.#built + 1
    const args = { version: newer, ttl_ms: EXPIRE_MS, size }
    await this.#onceOrTwice('switch-in', args, this.#model.switchIn(newer, 'one', size), repeated)
    this.#built = whole ? 0 : this.#built
  }

  #add({ sent: what, limit, repeated }: Extract<Step, { do: 'add' }>): Promise<void> {
    return this.#onceOrTwice(
      'add',
      { limit, parts: this.#partsOf(what) },
      this.#model.add(what, limit),
      repeated,
    )
  }

  async #remove({ values, repeated }: Extract<Step, { do: 'remove' }>): Promise<void> {
    if (this.#kind === 'list') return
    await this.#onceOrTwice('remove', { parts: values }, this.#model.remove(values), repeated)
  }

  async #read({ limit, on }: { limit: number; on: boolean }): Promise<void> {
    const { copy, place } = on ? this.#marker : { copy: 0, place: '0' }
    const expected = this.#model.read(copy, Number(place), limit)
    await this.#expectSame('read', { copy, place, limit }, expected)
    if (expected[0] === 'page') this.#marker = { copy: Number(expected[1]), place: String(expected[5]) }
  }

  async #evict(): Promise<void> {
    this.#model.evict()
    await client.del(`${this.#prefix}:items`)
  }

  async #advance(ms: number): Promise<void> {
    this.#model.nowUs += ms * 1000
    await setTestClock(driver, this.#prefix, this.#model.nowUs)
  }

  #partsOf({ items: given }: Sent): string[] {
    return given.flatMap(([score, value]) => (this.#kind === 'list' ? [value] : [String(score), value]))
  }

  /** Twice as after a lost answer, which the script remembers where something was done. */
  async #onceOrTwice(
    name: string,
    args: Arguments,
    expected: readonly unknown[],
    twice: boolean,
  ): Promise<void> {
    this.#call += 1
    const all = { ...args, caller: 'c', call: String(this.#call) }
    await this.#expectSame(name, all, expected)
    if (twice && ['replaced', 'added', 'removed'].includes(String(expected[0]))) {
      await this.#expectSame(name, all, expected)
    }
  }

  async #expectSame(name: string, args: Arguments, expected: readonly unknown[]): Promise<void> {
    const operation = `collection/${name}`
    const takesKind = name !== 'clear'
    const all = argumentsOf(vectors, operation, takesKind ? { ...args, kind: this.#kind } : args)
    const answer = await runOperation(driver, contract, operation, `${this.#prefix}:`, all)
    expect(answer, `${operation} ${JSON.stringify(args)}`).toEqual(expected)
  }
}

test.each(['list', 'sortedSet'] as const)(
  'a collection answers every history as the model does: %s',
  { timeout: 3_600_000 },
  async (kind) => {
    const history = fc.array(step, { minLength: 1, maxLength: 60, size: 'max' })
    const numRuns = countOf(10_000, 100)
    let played = 0

    await fc.assert(
      fc.asyncProperty(history, async (steps) => void (played += await new History(kind).play(steps))),
      { numRuns, seed: SEED },
    )

    const summary = `${numRuns} random histories of a ${kind}, ${played} steps`
    tell(`collection: ${summary}, answered as the model does, seed ${SEED}`)
  },
)
