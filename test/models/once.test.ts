// Random histories of one key on real scripts and on the model, which must answer the same. A failure prints the seed
// and the shortest failing history. PERILUNE_LONG=1 plays a hundred times as many.

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
import { KEEP_MS, LEASE_MS, OnceModel } from './once-model.ts'

const client = new Redis({ host: '127.0.0.1', port: inject('redisPort') })
const driver = ioredis(client)
const contract = readContract()
const vectors = readVectors('once')

afterAll(async () => {
  await driver.close()
  client.disconnect()
})

type Step =
  | { do: 'begin'; id: string; fingerprint: string; repeated: boolean }
  | { do: 'complete' | 'extend' | 'release'; back: number; repeated: boolean }
  | { do: 'abandon'; id: string; back: number; repeated: boolean }
  | { do: 'get' | 'inspect' | 'clear' }
  | { do: 'advance'; ms: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('begin' as const),
      id: fc.constantFrom('i', 'j', 'k'),
      fingerprint: fc.constantFrom('', '', '', 'f'),
      repeated: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('complete' as const, 'extend' as const, 'release' as const),
      back: fc.nat(2),
      repeated: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('abandon' as const),
      id: fc.constantFrom('i', 'j', 'k'),
      back: fc.nat(2),
      repeated: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('get' as const, 'inspect' as const, 'inspect' as const) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('clear' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      ms: fc.constantFrom(1, 500, 999, 1000, 4000, 5000, 6000, -700),
    }),
  },
)

/** One history: the calls to the key and the model, and the tokens they gave out. */
class History {
  readonly #prefix = `conformance:{once:${randomUUID()}:key}`
  readonly #model = new OnceModel(START_US)
  readonly #tokens: number[] = [1]

  async play(steps: readonly Step[]): Promise<void> {
    await this.#advance(0)
    for (const each of steps) {
      await this.#step(each)
      // As after a lost answer; nothing may have changed by it.
      if ('repeated' in each && each.repeated) await this.#step(each)
      expect(await faultsOfUnit(client, this.#prefix, Math.floor(this.#model.nowUs / 1000))).toEqual([])
    }
    await this.#expectSame('inspect', {}, this.#model.inspect())
    await this.#expectSame('clear', {}, this.#model.clear())
  }

  async #step(each: Step): Promise<void> {
    if (each.do === 'advance') await this.#advance(each.ms)
    else if (each.do === 'begin') await this.#begin(each.id, each.fingerprint)
    else if (each.do === 'abandon') await this.#abandon(each.id, each.back)
    else if ('back' in each) await this.#end(each.do, each.back)
    else await this.#expectSame(each.do, {}, this.#model[each.do]())
  }

  async #advance(ms: number): Promise<void> {
    this.#model.nowUs += ms * 1000
    await setTestClock(driver, this.#prefix, this.#model.nowUs)
  }

  async #begin(id: string, fingerprint: string): Promise<void> {
    const expected = this.#model.begin(id, fingerprint)
    await this.#expectSame('begin', { id, fingerprint, lease_ms: LEASE_MS, result_ttl_ms: KEEP_MS }, expected)
    if (expected[0] === 'started') this.#tokens.push(Number(expected[1]))
  }

  async #abandon(id: string, back: number): Promise<void> {
    const token = this.#tokens.at(-1 - (back % this.#tokens.length)) ?? 0
    await this.#expectSame('abandon', { id, token }, this.#model.abandon(id, token))
  }

  async #end(what: 'complete' | 'extend' | 'release', back: number): Promise<void> {
    const token = this.#tokens.at(-1 - (back % this.#tokens.length)) ?? 1
    const result = `r${token}`
    if (what === 'complete') {
      await this.#expectSame(
        what,
        { token, result, result_ttl_ms: KEEP_MS },
        this.#model.complete(token, result),
      )
    } else if (what === 'extend') {
      await this.#expectSame(what, { leases: [{ token, lease_ms: LEASE_MS }] }, this.#model.extend(token))
    } else await this.#expectSame(what, { token }, this.#model.release(token))
  }

  async #expectSame(name: string, args: Arguments, expected: readonly unknown[]): Promise<void> {
    const operation = `once/${name}`
    const all = argumentsOf(vectors, operation, args)
    const answer = await runOperation(driver, contract, operation, `${this.#prefix}:`, all)
    expect(answer, `${operation} ${JSON.stringify(args)}`).toEqual(expected)
  }
}

test('a key answers every history as the model does', { timeout: 3_600_000 }, async () => {
  const history = fc.array(step, { minLength: 1, maxLength: 60, size: 'max' })
  const numRuns = countOf(10_000, 100)

  await fc.assert(
    fc.asyncProperty(history, (steps) => new History().play(steps)),
    { numRuns, seed: SEED },
  )

  tell(`once: ${numRuns} random histories of one key answered as the model does, seed ${SEED}`)
})
