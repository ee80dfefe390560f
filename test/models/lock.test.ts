// Random histories on real scripts and on the model, which must answer the same. A failure prints the seed and the
// shortest failing history. PERILUNE_LONG=1 plays ten thousand.

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
import { faultsOfUnit } from '../audit/audit.ts'
import { readContract, readVectors } from '../conformance/files.ts'
import { countOf, SEED } from '../proof.ts'
import { type Attempt, type Kind, LockModel } from './lock-model.ts'

const client = new Redis({ host: '127.0.0.1', port: inject('redisPort') })
const driver = ioredis(client)
const contract = readContract()
const vectors = readVectors('lock')

afterAll(async () => {
  await driver.close()
  client.disconnect()
})

type Step =
  | { do: 'acquire'; who: number; waits: boolean }
  | { do: 'release' | 'extend' | 'abandon'; who: number; leaseMs: number }
  | { do: 'die'; kind: Kind }
  | { do: 'serve' }
  | { do: 'advance'; ms: number }

const who = fc.nat(5)
const lifeMs = fc.constantFrom(500, 3000, 8000)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('acquire'), who, waits: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('release'), who, leaseMs: lifeMs }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('extend', 'abandon'), who, leaseMs: lifeMs }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('die'), kind: fc.constantFrom('x', 's', 'b') }) },
  { weight: 1, arbitrary: fc.constant({ do: 'serve' }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('advance'),
      ms: fc.constantFrom(1, 400, 1000, 3000, 9000),
    }),
  },
)

const KINDS: readonly Kind[] = ['x', 'x', 'x', 's', 's', 'b']

/** A caller that makes one attempt after the other. */
class Actor {
  attempt: Attempt
  token = 1
  done = false
  #attempts = 0
  readonly #name: string
  readonly #kind: Kind

  constructor(at: number, kind: Kind) {
    this.#name = `p${at}`
    this.#kind = kind
    this.attempt = this.#next()
  }

  /** The attempt under way; a new one when the last is done with. */
  current(): Attempt {
    if (this.done) this.attempt = this.#next()
    this.done = false
    return this.attempt
  }

  #next(): Attempt {
    this.#attempts++
    const leaseMs = 2000 + 1000 * (this.#attempts % 3)
    // A process of its own: the vectors cover letters that a process has missed.
    return { id: `${this.#name}-${this.#attempts}.1`, kind: this.#kind, leaseMs, dead: false }
  }
}

class History {
  readonly #prefix = `conformance:{lock:${randomUUID()}}`
  readonly #model = new LockModel(START_US)
  readonly #actors = KINDS.map((kind, at) => new Actor(at, kind))
  #dead = 0

  async play(steps: readonly Step[]): Promise<void> {
    await this.#advance(0)
    for (const each of steps) {
      await this.#step(each)
      await this.#expectSame('inspect', {}, this.#model.inspect())
      expect(await faultsOfUnit(client, this.#prefix, Math.floor(this.#model.nowUs / 1000))).toEqual([])
    }
    await this.#expectSame('clear', {}, ['cleared', '*'])
  }

  async #step(each: Step): Promise<void> {
    if (each.do === 'advance') return this.#advance(each.ms)
    if (each.do === 'serve') return this.#expectSame('serve', {}, this.#model.serve())
    if (each.do === 'die') return this.#die(each.kind)
    const actor = this.#actors[each.who]
    if (actor === undefined) return
    if (each.do === 'acquire') return this.#acquire(actor, each.waits)
    if (each.do === 'release') return this.#release(actor)
    if (each.do === 'extend') return this.#extend(actor, each.leaseMs)
    return this.#abandon(actor)
  }

  async #advance(ms: number): Promise<void> {
    this.#model.nowUs += ms * 1000
    await setTestClock(driver, this.#prefix, this.#model.nowUs)
  }

  async #acquire(actor: Actor, waits: boolean): Promise<void> {
    const attempt = actor.current()
    const expected = this.#model.acquire(attempt, waits)
    await this.#attempt(attempt, waits, expected)
    if (expected[0] === 'granted') actor.token = Number(expected[1])
  }

  /** One that waits and is not heard of again. */
  #die(kind: Kind): Promise<void> {
    this.#dead++
    const attempt = { id: `dead${this.#dead}.1`, kind, leaseMs: 3000, dead: true }
    return this.#attempt(attempt, true, this.#model.acquire(attempt, true))
  }

  #attempt(attempt: Attempt, waits: boolean, expected: readonly unknown[]): Promise<void> {
    return this.#expectSame(nameFor('acquire', attempt), { ...argsOf(attempt), waits }, expected)
  }

  async #release(actor: Actor): Promise<void> {
    const { token, attempt } = actor
    if (attempt.kind === 's') {
      await this.#expectSame('release-shared', { token }, this.#model.releaseShared(token))
    } else {
      await this.#expectSame('release', { token }, this.#model.release(token))
    }
    actor.done = true
  }

  #extend({ token, attempt }: Actor, leaseMs: number): Promise<void> {
    const args = { leases: [{ token, lease_ms: leaseMs }] }
    const expected = this.#model.extend(token, leaseMs)
    // Readers are of one lock, and none is refused by itself.
    const refused = attempt.kind === 's' ? [] : [[]]
    return this.#expectSame(nameFor('extend', attempt), args, [...expected, ...refused])
  }

  async #abandon(actor: Actor): Promise<void> {
    const { attempt } = actor
    const shared = attempt.kind === 's'
    const expected = shared ? this.#model.abandonShared(attempt) : this.#model.abandon(attempt)
    await this.#expectSame(nameFor('abandon', attempt), argsOf(attempt), expected)
    actor.done = true
  }

  async #expectSame(name: string, args: Arguments, expected: readonly unknown[]): Promise<void> {
    const operation = `lock/${name}`
    const all = argumentsOf(vectors, operation, args)
    const answer = await runOperation(driver, contract, operation, `${this.#prefix}:`, all)
    expect(new Bindings().mismatch(expected, answer), `${operation} ${JSON.stringify(args)}`).toBe(null)
  }
}

function nameFor(verb: string, { kind }: Attempt): string {
  return kind === 's' ? `${verb}-shared` : verb
}

function argsOf({ id, kind, leaseMs, dead }: Attempt): Record<string, unknown> {
  return { id, lease_ms: leaseMs, listens: dead, ...(kind === 's' ? {} : { barging: kind === 'b' }) }
}

test('a lock answers every history as the model does', { timeout: 3_600_000 }, async () => {
  const history = fc.array(step, { minLength: 1, maxLength: 60, size: 'max' })
  const property = fc.asyncProperty(history, (steps) => new History().play(steps))

  await fc.assert(property, {
    numRuns: countOf(10_000, 100),
    seed: SEED,
  })
})
