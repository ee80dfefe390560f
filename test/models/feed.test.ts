// Random histories on real scripts and on the model, which must answer the same. A failure prints the seed and the
// shortest failing history. PERILUNE_LONG=1 plays a hundred times as many.

import { createHash, randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { afterAll, expect, inject, test } from 'vitest'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { runOperation } from '../../src/testing/run-operation.ts'
import { START_US, setTestClock } from '../../src/testing/test-clock.ts'
import type { Arguments, Contract } from '../../src/testing/vector-contract.ts'
import { argumentsOf } from '../../src/testing/vector-file.ts'
import { Bindings } from '../../src/testing/vector-pattern.ts'
import type { Value } from '../../src/testing/vector-value.ts'
import { faultsOfUnit } from '../audit/audit.ts'
import { readContract, readVectors } from '../conformance/files.ts'
import { FeedModel, LEASE_MS, MAX_CLAIMS, type NewMessage, REMEMBER_MS } from './feed-model.ts'
import { type Step, step } from './feed-steps.ts'
import { countOf } from '../proof.ts'
import { readableContract } from '../readable-scripts.ts'

const client = new Redis({ host: '127.0.0.1', port: inject('redisPort') })
const driver = ioredis(client)
const contract = readContract()
const vectors = readVectors('feed')

afterAll(async () => {
  await driver.close()
  client.disconnect()
})

/**
 * The same scripts with rare events made frequent: the log is rewritten, one message a call, and bodies of three bytes
 * are stored separately.
 */
function eager({ operations, ...others }: ReturnType<typeof readableContract>): Contract {
  const replaced: [string, string][] = [
    ['bytes > 16384', 'bytes > 2'],
    ['#bodies[at] > 16384', '#bodies[at] > 2'],
    ['budget.bytes / 16384', 'budget.bytes / 2'],
    ['feed.look = feed.look or tonumber(string.sub(places[1], -3)) < #places', 'feed.look = true'],
    ['return nodes > 16 + 3 * math.max(bytes / 4096, length / 100)', 'return nodes > 0 and bytes > 0'],
    ['budget_of(4 + 2 * done)', 'budget_of(1)'],
  ]
  const inAll = (source: string): string =>
    replaced.reduce((text, [from, to]) => text.replaceAll(from, () => to), source)
  for (const [from] of replaced) {
    if (!Object.values(operations).some(({ source }) => source.includes(from))) {
      throw new Error(`no script has ${from} any more`)
    }
  }
  const made = Object.entries(operations).map(([name, operation]) => {
    const source = inAll(operation.source)
    return [name, { ...operation, source, sha1: createHash('sha1').update(source).digest('hex') }] as const
  })
  return { ...others, operations: Object.fromEntries(made) }
}

/** One history: the calls to the feed and the model, and what they returned. */
class History {
  readonly #contract: Contract
  readonly #prefix = `conformance:{feed:${randomUUID()}}`
  readonly #model = new FeedModel(START_US)
  readonly #bindings = new Bindings()
  readonly #markers: [string, string] = ['', '']
  readonly #ids: number[] = []
  readonly #tokens: number[] = [1]
  #calls = 1

  constructor(scripts: Contract) {
    this.#contract = scripts
  }

  async play(steps: readonly Step[]): Promise<void> {
    await this.#advance(0)
    for (const each of steps) {
      await this.#step(each)
      expect(await faultsOfUnit(client, this.#prefix, Math.floor(this.#model.nowUs / 1000))).toEqual([])
    }
    await this.#settleAndInspect()
    await this.#expectNothingLeft()
    await this.#expectSame('clear', {}, ['cleared', '*'])
  }

  /** Removes every message, and nothing that was stored of one is left. */
  async #expectNothingLeft(): Promise<void> {
    const args = { ids: this.#ids, even_claimed: true }
    await this.#expectSame('remove', args, this.#model.remove(this.#ids, true))
    const parts = ['bodies', 'expiry', 'delayed', 'parked', 'claimed', 'returned']
    expect(await client.exists(parts.map((part) => `${this.#prefix}:${part}`))).toBe(0)
    expect(await client.xlen(`${this.#prefix}:log`)).toBe(0)
    expect(await client.xlen(`${this.#prefix}:early`)).toBe(0)
  }

  async #step(each: Step): Promise<void> {
    if (each.do === 'advance') return this.#advance(each.ms)
    if (each.do === 'append') return this.#append(each.messages)
    if (each.do === 'read') return this.#read(each.reader, each.limit, each.includeClaimed)
    if (each.do === 'settle') return this.#settleAndInspect()
    if ('ids' in each) return this.#give(each.do, each.at, each.ids, each.evenClaimed)
    return this.#take(each.do, each.at, each.graceMs)
  }

  async #advance(ms: number): Promise<void> {
    this.#model.nowUs += ms * 1000
    await setTestClock(driver, this.#prefix, this.#model.nowUs)
  }

  async #append(messages: NewMessage[]): Promise<void> {
    const expected = this.#model.append(messages)
    const [, , first] = await this.#expectSame(
      'append',
      { messages, idempotency_ttl_ms: REMEMBER_MS },
      expected,
    )
    this.#ids.push(...messages.map((_, place) => Number(first) + place))
  }

  async #read(reader: number, limit: number, includeClaimed: boolean): Promise<void> {
    const after = this.#markers[reader] ?? ''
    const messages = this.#model.read(Number(after.split('-')[1] ?? 0), limit, includeClaimed)
    const page = ['page', '*', '*', '*', false, false, '*', '*', '*', ...messages]
    const [, , next] = await this.#expectSame('read', { after, limit, include_claimed: includeClaimed }, page)
    if (typeof next === 'string') this.#markers[reader] = next
  }

  async #settleAndInspect(): Promise<void> {
    await this.#expectSame('settle', {}, this.#model.settle())
    await this.#expectSame('inspect', {}, this.#model.inspect())
  }

  async #take(what: 'get' | 'claim' | 'extend', place: number, graceMs: number): Promise<void> {
    if (what === 'get') {
      const ids = this.#ids.slice(-5)
      await this.#expectSame('get', { ids }, this.#model.get(ids))
    } else if (what === 'extend') {
      const token = this.#tokenAt(place)
      const args = { token, lease_ms: LEASE_MS, grace_ms: graceMs }
      await this.#expectSame('extend', args, this.#model.extend(token, graceMs))
    } else await this.#claim(1 + (place % 4), graceMs)
  }

  async #claim(limit: number, graceMs: number): Promise<void> {
    const args = { limit, lease_ms: LEASE_MS, grace_ms: graceMs, max_claims: MAX_CLAIMS }
    const [word, , token] = await this.#expectSame('claim', args, this.#model.claim(limit, graceMs))
    if (word === 'claimed') this.#tokens.push(Number(token))
  }

  async #give(
    what: 'release' | 'ack' | 'remove',
    place: number,
    places: readonly number[],
    evenClaimed: boolean,
  ): Promise<void> {
    const ids = [...new Set(places.map((back) => this.#ids.at(-1 - back) ?? 1))]
    const token = this.#tokenAt(place)
    // An expired message that is not swept yet may still be returned by its id.
    if (ids.length > 0) await this.#expectSame('settle', {}, this.#model.settle())
    if (what === 'release') await this.#expectSame(what, { token, ids }, this.#model.release(token, ids))
    if (what === 'ack') await this.#expectSame(what, { token, ids }, this.#model.ack(token, ids))
    if (what === 'remove')
      await this.#expectSame(what, { ids, even_claimed: evenClaimed }, this.#model.remove(ids, evenClaimed))
  }

  /** The newest tokens first. */
  #tokenAt(place: number): number {
    return this.#tokens.at(-1 - (place % this.#tokens.length)) ?? 1
  }

  async #expectSame(name: string, args: Arguments, expected: readonly unknown[]): Promise<Value[]> {
    const answer = await this.#runAndCompare(name, args, expected)
    const { caller } = vectors.defaults[`feed/${name}`] ?? {}
    if (caller === undefined || answer[0] === 'empty') return answer
    // Sent again as after a lost answer. Dead letters are reported once.
    const again = name === 'claim' ? answer.with(5, '*') : answer
    await this.#runAndCompare(name, args, again)
    this.#calls += 1
    return answer
  }

  async #runAndCompare(name: string, args: Arguments, expected: readonly unknown[]): Promise<Value[]> {
    const operation = `feed/${name}`
    const { caller } = vectors.defaults[operation] ?? {}
    const id = caller === undefined ? {} : { caller: 'p.0', call: String(this.#calls) }
    const all = argumentsOf(vectors, operation, { ...args, ...id })
    const answer = await runOperation(driver, this.#contract, operation, `${this.#prefix}:`, all)
    expect(this.#bindings.mismatch(expected, answer), `${operation} ${JSON.stringify(args)}`).toBe(null)
    return answer
  }
}

test.each([
  ['', contract],
  [' while its log is rewritten, with separate bodies', eager(readableContract('feed'))],
])('a feed answers every history as the model does%s', { timeout: 3_600_000 }, async (_, scripts) => {
  const history = fc.array(step, { minLength: 1, maxLength: 60, size: 'max' })
  const property = fc.asyncProperty(history, (steps) => new History(scripts).play(steps))

  await fc.assert(property, { numRuns: countOf(10_000, 60) })
})
