// Random histories on real scripts and on the model, which must answer the same, and whose windows are checked by a
// reader that uses neither. PERILUNE_LONG=1 plays a hundred times as many.

import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { afterAll, expect, inject, test } from 'vitest'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { runOperation } from '../../src/testing/run-operation.ts'
import { runCommand, START_US, setTestClock } from '../../src/testing/test-clock.ts'
import type { Arguments } from '../../src/testing/vector-contract.ts'
import { argumentsOf } from '../../src/testing/vector-file.ts'
import type { Value } from '../../src/testing/vector-value.ts'
import { faultsOfUnit } from '../audit/audit.ts'
import { readContract, readVectors } from '../conformance/files.ts'
import { countOf, LONG, SEED, tell } from '../proof.ts'
import { BoundChecker } from './rate-limit-bounds.ts'
import { SubjectModel, type Terms } from './rate-limit-model.ts'
import { limits, type Step, step } from './rate-limit-steps.ts'

const client = new Redis({ host: '127.0.0.1', port: inject('redisPort') })
const driver = ioredis(client)
const contract = readContract()
const vectors = readVectors('rate-limit')
const counts = { histories: 0, taken: 0, denied: 0 }

afterAll(async () => {
  await driver.close()
  client.disconnect()
})

/** No more than one take could ever have. */
function possible(terms: readonly Terms[], cost: number): number {
  const counted = terms.filter(({ algorithm }) => algorithm !== 'concurrency')
  return Math.min(cost, ...counted.map(({ burst }) => burst))
}

/** One history of one subject, whose callers name different limits of it. */
class History {
  readonly #prefix = `conformance:{rate-limit:${randomUUID()}}`
  readonly #terms: readonly Terms[]
  readonly #model: SubjectModel
  readonly #checker: BoundChecker
  readonly #taken: { token: number; cost: number; terms: readonly Terms[] }[] = []
  /** The time that has passed in truth, which a step of the clock leaves alone. */
  #trueUs = 0
  #calls = 0

  constructor(terms: readonly Terms[]) {
    this.#terms = terms
    this.#model = new SubjectModel(terms, START_US)
    this.#checker = new BoundChecker(terms)
  }

  async play(steps: readonly Step[]): Promise<void> {
    await this.#advance(0)
    for (const each of steps) {
      await this.#step(each)
      expect(await faultsOfUnit(client, this.#prefix, Math.floor(this.#model.nowUs / 1000))).toEqual([])
    }
    const ttl = await client.pttl(`${this.#prefix}:state`)
    expect(ttl, 'the life of the key').not.toBe(-1)
    await runCommand(driver, [`${this.#prefix}:state`], ['UNLINK', `${this.#prefix}:state`])
    counts.histories += 1
  }

  async #step(each: Step): Promise<void> {
    if (each.do === 'advance') return this.#advance(each.ms)
    if (each.do === 'take') return this.#take(this.#named(each.handle), each)
    if (each.do === 'get') return this.#get(this.#named(each.handle), each.cost)
    const { token, cost, terms } = this.#taken.at(-1 - each.back) ?? { token: 1, cost: 1, terms: this.#terms }
    if (each.do === 'refund') return this.#refund(terms, Math.min(cost, each.cost), token)
    const expected = this.#model.release(terms, token)
    const [word] = await this.#twice('release', { token, limits: terms }, expected)
    if (word === 'released') this.#checker.release(token)
  }

  /** The limits that a handle names: any of them, in the order in which they were given. */
  #named(handle: number): readonly Terms[] {
    const named = this.#terms.filter((_, at) => Math.floor(handle / 2 ** at) % 2 === 1)
    return named.length > 0 ? named : this.#terms
  }

  async #advance(ms: number): Promise<void> {
    this.#model.nowUs += Math.round(ms * 1000)
    this.#trueUs += Math.max(0, Math.round(ms * 1000))
    if (ms < 0) this.#checker.stepBack()
    await setTestClock(driver, this.#prefix, this.#model.nowUs)
  }

  async #take(terms: readonly Terms[], asked: Step & { do: 'take' }): Promise<void> {
    const [only] = terms
    const cost = possible(terms, asked.cost)
    if (asked.alone && terms.length === 1 && only?.algorithm === 'gcra') {
      return this.#takeEach(cost, asked.count, only)
    }
    const expected = this.#model.take(terms, cost)
    const [word, token] = await this.#twice('take', { cost, limits: terms }, expected)
    if (word === 'taken') this.#took(terms, Number(token), cost)
    else counts.denied += 1
  }

  /** The model takes one after the other, and the script all of them at once. */
  async #takeEach(cost: number, count: number, only: Terms): Promise<void> {
    const expected = this.#model.takeEach(only, cost, count)
    const { name, limit, window_ms, burst } = only
    const args = { name, limit, window_ms, burst, takes: [{ count, cost }] }
    await this.#twice('take-each', args, ['judged', this.#model.nowUs, [expected], null])
    const [granted, token] = expected
    counts.denied += count - granted
    for (let nth = 0; nth < granted; nth++) this.#took([only], token + nth, cost)
  }

  #took(terms: readonly Terms[], token: number, cost: number): void {
    counts.taken += 1
    this.#taken.push({ token, cost, terms })
    expect(this.#checker.take(token, this.#trueUs, cost, terms)).toBe(null)
  }

  async #get(terms: readonly Terms[], most: number): Promise<void> {
    const cost = possible(terms, most)
    await this.#same('get', { cost, limits: terms }, this.#model.get(terms, cost))
  }

  async #refund(terms: readonly Terms[], cost: number, token: number): Promise<void> {
    const expected = this.#model.refund(terms, cost, token)
    const [word] = await this.#twice('refund', { cost, token, limits: terms }, expected)
    if (word === 'refunded') this.#checker.refund(token, cost)
  }

  /** Sent again as after a lost answer; a call that changed nothing may be judged again. */
  async #twice(name: string, args: Arguments, expected: unknown[]): Promise<Value[]> {
    this.#calls += 1
    const all = { ...args, caller: 'p.0', call: this.#calls }
    const answer = await this.#same(name, all, expected)
    await this.#same(name, all, expected)
    return answer
  }

  async #same(name: string, args: Arguments, expected: unknown[]): Promise<Value[]> {
    const operation = `rate-limit/${name}`
    const all = argumentsOf(vectors, operation, args)
    const answer = await runOperation(driver, contract, operation, `${this.#prefix}:`, all)
    expect(answer, `${operation} ${JSON.stringify(all)}`).toEqual(expected)
    return answer
  }
}

test('limits answer every history as the model does, and hold their bound in every window', {
  timeout: 900_000,
}, async () => {
  const history = fc.array(step, { minLength: 1, maxLength: LONG ? 100 : 60, size: 'max' })
  const property = fc.asyncProperty(limits, history, (terms, steps) => new History(terms).play(steps))

  await fc.assert(property, { numRuns: countOf(10_000, 100), seed: SEED })

  tell(`${counts.histories} histories of limits: ${counts.taken} takes allowed, ${counts.denied} denied`)
  expect(counts.taken).toBeGreaterThan(100)
  expect(counts.denied).toBeGreaterThan(100)
})
