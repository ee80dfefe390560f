// Random histories on real scripts and on the model, which must answer the same. A failure prints the seed and the
// shortest failing history. PERILUNE_LONG=1 plays 10,000 of them.

import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { afterAll, expect, inject, test } from 'vitest'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { runOperation } from '../../src/testing/run-operation.ts'
import { START_US, setTestClock } from '../../src/testing/test-clock.ts'
import type { Arguments } from '../../src/testing/vector-contract.ts'
import { argumentsOf } from '../../src/testing/vector-file.ts'
import { Bindings } from '../../src/testing/vector-pattern.ts'
import type { Value } from '../../src/testing/vector-value.ts'
import { faultsOfUnit } from '../audit/audit.ts'
import { readContract, readVectors } from '../conformance/files.ts'
import { countOf, SEED, tell } from '../proof.ts'
import { type Answer, CLAIM_MS, SemaphoreModel } from './semaphore-model.ts'
import { LEASE_MS, type Step, step } from './semaphore-steps.ts'

const HOLDER = 'ada'
const UNKNOWN_LIMIT = 2

const client = new Redis({ host: '127.0.0.1', port: inject('redisPort') })
const driver = ioredis(client)
const contract = readContract()
const vectors = readVectors('semaphore')

afterAll(async () => {
  await driver.close()
  client.disconnect()
})

/** One history: the calls to the semaphore and the model, and the tokens that they gave out. */
class History {
  readonly #prefix = `conformance:{semaphore:${randomUUID()}}`
  readonly #model = new SemaphoreModel(START_US)
  readonly #bindings = new Bindings()
  #tokens: number[] = [1]

  async play(steps: readonly Step[]): Promise<void> {
    await this.#advance(0)
    for (const each of steps) {
      await this.#step(each)
      await this.#inspect()
      expect(await faultsOfUnit(client, this.#prefix, Math.floor(this.#model.nowUs / 1000))).toEqual([])
    }
    await this.#run('clear', {})
  }

  async #step(each: Step): Promise<void> {
    if (each.do === 'advance') return this.#advance(each.ms)
    if (each.do === 'acquire') return this.#acquire(each)
    if (each.do === 'abandon') return this.#abandon(each.who)
    if (each.do === 'extend') return this.#extend(each.back, each.leaseMs)
    if (each.do === 'release') return this.#release(each.back)
    return this.#manage(each)
  }

  async #manage(each: Extract<Step, { do: 'resize' | 'serve' | 'clear' }>): Promise<void> {
    if (each.do === 'resize') {
      await this.#same('resize', { limit: each.limit }, this.#model.resize(each.limit))
    } else if (each.do === 'serve') {
      await this.#same('serve', {}, this.#model.serve())
    } else {
      this.#model.clear()
      await this.#run('clear', {})
    }
  }

  async #advance(ms: number): Promise<void> {
    this.#model.nowUs += ms * 1000
    await setTestClock(driver, this.#prefix, this.#model.nowUs)
  }

  async #acquire({ who: at, limit, waits }: { who: number; limit: number; waits: boolean }): Promise<void> {
    const { args, attempt } = attemptOf(at)
    const expected = this.#model.acquire(attempt, limit, waits)
    await this.#same('acquire', { ...args, limit, waits }, expected)
    // Sent again, as after a lost answer.
    const again = this.#model.acquire(attempt, limit, waits)
    await this.#same('acquire', { ...args, limit, waits }, again)
    if (expected[0] === 'granted' || expected[0] === 'queued') expect(again).toEqual(expected)
  }

  async #abandon(at: number): Promise<void> {
    const { args, attempt } = attemptOf(at)
    await this.#same('abandon', args, this.#model.abandon(attempt.id))
  }

  async #release(back: number): Promise<void> {
    const token = this.#tokenAt(back)
    await this.#same('release', { token: String(token) }, this.#model.release(token))
  }

  async #extend(back: number, leaseMs: number): Promise<void> {
    const tokens = [...new Set([this.#tokenAt(back), this.#tokenAt(back + 1)])]
    const leases = tokens.map((token) => ({ token: String(token), lease_ms: leaseMs }))
    await this.#same('extend', { leases }, this.#model.extend(tokens, leaseMs))
  }

  async #inspect(): Promise<void> {
    const expected = this.#model.inspect(UNKNOWN_LIMIT, HOLDER)
    const answer = await this.#same('inspect', { limit: UNKNOWN_LIMIT }, expected)
    const permits = answer[6] as unknown as [number][]
    this.#tokens = [...new Set([...this.#tokens, ...permits.map(([token]) => Number(token))])]
  }

  /** The newest tokens first. */
  #tokenAt(back: number): number {
    return this.#tokens.at(-1 - (back % this.#tokens.length)) ?? 1
  }

  async #same(name: string, args: Arguments, expected: Answer): Promise<Value[]> {
    const answer = await this.#run(name, args)
    const call = `${name} ${JSON.stringify(args)} answered ${JSON.stringify(answer)}`
    expect(this.#bindings.mismatch(expected, answer), call).toBe(null)
    return answer
  }

  #run(name: string, args: Arguments): Promise<Value[]> {
    const operation = `semaphore/${name}`
    const counted = 'counted' in (vectors.defaults[operation] ?? {}) ? { counted: true } : {}
    const all = argumentsOf(vectors, operation, { ...args, ...counted })
    return runOperation(driver, contract, operation, `${this.#prefix}:`, all)
  }
}

/**
 * Ten callers, each in a process of its own and always with the same weight; the last two are of a process that has
 * died.
 */
function attemptOf(at: number): { args: Arguments; attempt: Parameters<SemaphoreModel['acquire']>[0] } {
  const dead = at >= 8
  const attempt = {
    id: `${dead ? 'gone' : `p${at}`}.${at}`,
    weight: 1 + (at % 4),
    leaseMs: LEASE_MS,
    dead,
  }
  const { id, weight } = attempt
  const args = { id, weight, lease_ms: LEASE_MS, listens: dead, holder: HOLDER, claim_ms: CLAIM_MS }
  return { args, attempt }
}

test('a semaphore answers every history as the model does', { timeout: 1_200_000 }, async () => {
  const history = fc.array(step, { minLength: 1, maxLength: 60, size: 'max' })
  const property = fc.asyncProperty(history, (steps) => new History().play(steps))
  const numRuns = countOf(10_000, 100)

  await fc.assert(property, { numRuns, seed: SEED })
  tell(`semaphore: ${numRuns} random histories answered as by the model, seed ${SEED}`)
})
