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
import { CacheModel, FRESH_MS, LEASE_MS, REST_MS, STALE_MS } from './cache-model.ts'
import { HELD, type Step, step } from './cache-steps.ts'

const client = new Redis({ host: '127.0.0.1', port: inject('redisPort') })
const ear = new Redis({ host: '127.0.0.1', port: inject('redisPort') })
const driver = ioredis(client)
const contract = readContract()
const vectors = readVectors('cache')
const operations = Object.keys(contract.operations).filter((name) => name.startsWith('cache/'))
const played = new Map(operations.map((name) => [name, 0]))
let steps = 0

afterAll(async () => {
  await driver.close()
  client.disconnect()
  ear.disconnect()
})

/** One history: the calls to the key and the model, and the tokens that were seen. */
class History {
  readonly #prefix = `conformance:{cache:${randomUUID()}:key}`
  readonly #model = new CacheModel(START_US)
  readonly #tokens: number[] = []

  async play(history: readonly Step[]): Promise<void> {
    const levels = await listen(`${this.#prefix}:levels`)
    await this.#step({ do: 'advance', ms: 0 })
    for (const each of history) {
      steps += 1
      await this.#step(each)
      // As after a lost answer; nothing may have changed by it.
      if ('repeated' in each && each.repeated) await this.#step(each)
      await this.#inspect()
      expect(await faultsOfUnit(client, this.#prefix, Math.floor(this.#model.nowUs / 1000))).toEqual([])
    }
    const expected = this.#model.announced.map(({ of, number }) => `${number} ${this.#prefix}:${of}`)
    expect(await levels.end(), 'notifications to L1s').toEqual(expected)
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
      case 'store':
      case 'set':
        return this.#write(each)
      case 'extend':
      case 'hold':
      case 'fail':
        return this.#with(each)
      default:
        return this.#end(each.do)
    }
  }

  async #elect(each: Extract<Step, { do: 'elect' }>): Promise<void> {
    const [seen, waited] = [this.#token(each.seen), this.#token(each.waited)]
    const expected = this.#model.elect(each.id, seen, waited, each.tags)
    const args = { id: each.id, seen, waited, tags: each.tags, lease_ms: LEASE_MS }
    await this.#expectSame('elect', args, expected, expected[0] === 'found' ? 2 : undefined)
    if (expected[0] === 'elected') this.#see(Number(expected[1]))
  }

  #write(each: Extract<Step, { do: 'store' | 'set' }>): Promise<void> {
    const { version, tags, held } = each
    const span = { ttl_ms: FRESH_MS, stale_while_revalidate_ms: STALE_MS }
    const args = { version, tags, flags: held ? HELD : 0, channel: this.#prefix, ...span }
    if (each.do === 'set') return this.#expectSame('set', args, this.#model.set(each))
    const token = this.#token(each.back)
    return this.#expectSame('store', { token, ...args }, this.#model.store(token, each))
  }

  #with(each: Extract<Step, { do: 'extend' | 'hold' | 'fail' }>): Promise<void> {
    if (each.do === 'fail') {
      const args = { id: each.id, rest_ms: REST_MS, reason: 'reason' }
      return this.#expectSame('fail', args, this.#model.fail(each.id))
    }
    const token = this.#token(each.back)
    if (each.do === 'hold') return this.#expectSame('hold', { token }, this.#model.hold(token))
    const args = { leases: [{ token, lease_ms: LEASE_MS }] }
    return this.#expectSame('extend', args, this.#model.extend(token))
  }

  #end(what: 'invalidate' | 'invalidate-tag'): Promise<void> {
    const expected = what === 'invalidate' ? this.#model.invalidate() : this.#model.invalidateTag()
    return this.#expectSame(what, { channel: this.#prefix }, expected)
  }

  #see(token: number): void {
    if (token > 0 && !this.#tokens.includes(token)) this.#tokens.unshift(token)
  }

  /** 0 when there was none. */
  #token(ago: number): number {
    return this.#tokens[ago] ?? 0
  }

  async #inspect(): Promise<void> {
    const answer = await this.#run('inspect', {})
    const seen = [1, 6, 7, 12, 13].map((at) => answer[at])
    expect(seen, 'cache/inspect').toEqual(this.#model.inspect())
    // Also those of values that were set.
    this.#see(Number(answer[6]))
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
    played.set(operation, (played.get(operation) ?? 0) + 1)
    return runOperation(driver, contract, operation, `${this.#prefix}:`, all)
  }
}

/** Collects the notifications to L1s on a channel until it ends. */
async function listen(channel: string): Promise<{ end(): Promise<string[]> }> {
  const announced: string[] = []
  const hear = (on: string, message: string): void => void (on === channel && announced.push(message))
  ear.on('message', hear)
  await ear.subscribe(channel)
  const end = async (): Promise<string[]> => {
    // Its answer arrives after all earlier notifications.
    await ear.unsubscribe(channel)
    ear.off('message', hear)
    return announced
  }
  return { end }
}

test('a key answers every history as the model does', { timeout: 3_600_000 }, async () => {
  const history = fc.array(step, { minLength: 1, maxLength: 60, size: 'max' })
  const numRuns = countOf(10_000, 100)

  await fc.assert(
    fc.asyncProperty(history, (each) => new History().play(each)),
    { numRuns, seed: SEED },
  )

  expect([...played.values()], 'calls of each operation').not.toContain(0)
  tell(
    `cache: ${numRuns} random histories of one key, ${steps} steps, answered as the model does, seed ${SEED}`,
  )
})
