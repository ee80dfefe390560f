// Random histories of one key on real scripts and on the model, which must answer alike. A failure prints
// the seed and the shortest history that shows it. PERILUNE_LONG=1 plays a hundred times as many.

import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { afterAll, expect, inject, test } from 'vitest'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { runOperation } from '../../src/testing/run-operation.ts'
import { START_US, setTestClock } from '../../src/testing/test-clock.ts'
import type { Arguments } from '../../src/testing/vector-contract.ts'
import { argumentsOf } from '../../src/testing/vector-file.ts'
import { readContract, readVectors } from '../conformance/files.ts'
import { LONG, SEED, tell } from '../proof.ts'
import { CacheModel, FRESH_MS, LEASE_MS, REST_MS, STALE_MS } from './cache-model.ts'

const client = new Redis({ host: '127.0.0.1', port: inject('redisPort') })
const driver = ioredis(client)
const contract = readContract()
const vectors = readVectors('cache')

afterAll(async () => {
  await driver.close()
  client.disconnect()
})

type Step =
  | { do: 'elect'; id: string; seen: number; waited: number; tags: string; repeated: boolean }
  | { do: 'store'; back: number; version: number; tags: string; repeated: boolean }
  | { do: 'set'; version: number; tags: string }
  | { do: 'extend'; back: number; repeated: boolean }
  | { do: 'fail'; id: string; repeated: boolean }
  | { do: 'invalidate' | 'inspect' }
  | { do: 'advance'; ms: number }

const id = fc.constantFrom('i', 'j', 'k')
/** The token of so many elections ago; 9: none. */
const back = fc.constantFrom(0, 0, 1, 2, 9)
const version = fc.constantFrom(0, 0, 0, 1, 2, 3)
const tags = fc.constantFrom('', '', 'x')
const repeated = fc.boolean()

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('elect' as const), id, seen: back, waited: back, tags, repeated }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('store' as const), back, version, tags, repeated }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('set' as const), version, tags }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('extend' as const), back, repeated }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('fail' as const), id, repeated }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('invalidate' as const, 'inspect' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      ms: fc.constantFrom(1, 499, 500, 999, 1000, 3000, 5000, -300),
    }),
  },
)

/** One history: what the key and the model have been told, and the tokens they gave out. */
class History {
  readonly #prefix = `conformance:{cache:${randomUUID()}:key}`
  readonly #model = new CacheModel(START_US)
  readonly #tokens: number[] = []

  async play(steps: readonly Step[]): Promise<void> {
    await this.#step({ do: 'advance', ms: 0 })
    for (const each of steps) {
      await this.#step(each)
      // As after a lost answer; nothing may have changed by it.
      if ('repeated' in each && each.repeated) await this.#step(each)
      await this.#inspect()
    }
  }

  async #step(each: Step): Promise<void> {
    switch (each.do) {
      case 'advance':
        this.#model.nowUs += each.ms * 1000
        return setTestClock(driver, this.#prefix, this.#model.nowUs)
      case 'elect':
        return this.#elect(each)
      case 'inspect':
        return this.#inspect()
      case 'invalidate':
        return this.#expectSame('invalidate', {}, this.#model.invalidate())
      default:
        return this.#end(each)
    }
  }

  async #elect(each: Extract<Step, { do: 'elect' }>): Promise<void> {
    const [seen, waited] = [this.#token(each.seen), this.#token(each.waited)]
    const expected = this.#model.elect(each.id, seen, waited, each.tags)
    const args = { id: each.id, seen, waited, tags: each.tags, lease_ms: LEASE_MS }
    await this.#expectSame('elect', args, expected, expected[0] === 'found' ? 2 : undefined)
    if (expected[0] === 'elected' && this.#tokens[0] !== expected[1])
      this.#tokens.unshift(Number(expected[1]))
  }

  #end(each: Extract<Step, { do: 'store' | 'set' | 'extend' | 'fail' }>): Promise<void> {
    const span = { fresh_ms: FRESH_MS, stale_ms: STALE_MS }
    if (each.do === 'fail') {
      const args = { id: each.id, rest_ms: REST_MS, reason: 'reason' }
      return this.#expectSame('fail', args, this.#model.fail(each.id))
    }
    if (each.do === 'set') {
      const args = { version: each.version, tags: each.tags, ...span }
      return this.#expectSame('set', args, this.#model.set(each.version, each.tags))
    }
    const token = this.#token(each.back)
    if (each.do === 'extend') {
      const args = { leases: [{ token, lease_ms: LEASE_MS }] }
      return this.#expectSame('extend', args, this.#model.extend(token))
    }
    const args = { token, version: each.version, tags: each.tags, ...span }
    return this.#expectSame('store', args, this.#model.store(token, each.version, each.tags))
  }

  /** Of an election; 0 when there was none. */
  #token(ago: number): number {
    return this.#tokens[ago] ?? 0
  }

  async #inspect(): Promise<void> {
    const answer = await this.#run('inspect', {})
    const seen = [1, 6, 7, 12, 13].map((at) => answer[at])
    expect(seen, 'cache/inspect').toEqual(this.#model.inspect())
  }

  async #expectSame(
    name: string,
    args: Arguments,
    expected: readonly unknown[],
    parts?: number,
  ): Promise<void> {
    const answer = await this.#run(name, args)
    expect(answer.slice(0, parts), `cache/${name} ${JSON.stringify(args)}`).toEqual(expected)
  }

  #run(name: string, args: Arguments): Promise<readonly unknown[]> {
    const operation = `cache/${name}`
    const all = argumentsOf(vectors, operation, args)
    return runOperation(driver, contract, operation, `${this.#prefix}:`, all)
  }
}

test('a key answers every history as the model does', { timeout: 600_000 }, async () => {
  const history = fc.array(step, { minLength: 1, maxLength: 60, size: 'max' })
  const numRuns = LONG ? 10_000 : 100

  await fc.assert(
    fc.asyncProperty(history, (steps) => new History().play(steps)),
    { numRuns, seed: SEED },
  )

  tell(`cache: ${numRuns} random histories of one key answered as the model does, seed ${SEED}`)
})
