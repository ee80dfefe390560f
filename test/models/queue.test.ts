// Random histories on real scripts and on the model, which must answer alike, and what must hold of the stored data
// after each step. A failure prints the seed and the shortest history that shows it. PERILUNE_LONG=1 plays 10,000.

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
import { readContract, readVectors } from '../conformance/files.ts'
import { LONG, SEED, tell } from '../proof.ts'
import type { Job, Spec } from './queue-job.ts'
import { type Claim, QueueModel } from './queue-model.ts'
import { type Step, step } from './queue-steps.ts'
import { faultsOf } from './queue-stored.ts'

const client = new Redis({ host: '127.0.0.1', port: inject('redisPort') })
const driver = ioredis(client)
const contract = readContract()
const vectors = readVectors('queue')

afterAll(async () => {
  await driver.close()
  client.disconnect()
})

const OPTIONS = {
  name: 'mail',
  timeout_ms: 0,
  backoff: 2,
  backoff_ms: 500,
  backoff_max_ms: 0,
  jitter: 0,
  trace: '',
  tags: '',
}

/** What a claim is to answer. */
interface Expected {
  refused: unknown[]
  options: unknown[]
  told: unknown[]
  waits: unknown[]
}

let quickClaims = 0

/** One history: what the queue and the model have been told, and the jobs and tokens that they gave out. */
class History {
  readonly #prefix = `conformance:{queue:${randomUUID()}}`
  readonly #model = new QueueModel(START_US)
  readonly #bindings = new Bindings()
  readonly #claims: Claim[] = [[1, 1]]
  readonly #numbers: number[] = [1]
  #call = 0

  async play(steps: readonly Step[]): Promise<void> {
    await this.#advance(0)
    for (const each of steps) {
      await this.#step(each)
      await this.#inspect()
      expect(await faultsOf(client, this.#prefix), JSON.stringify(each)).toEqual([])
    }
    await this.#run('clear', {})
    expect(await client.keys(`${this.#prefix.replace(/[{}]/g, '?')}:[^c]*`)).toEqual([])
    await client.unlink(`${this.#prefix}:clock`)
  }

  #step(each: Step): Promise<void> {
    switch (each.do) {
      case 'advance':
        return this.#advance(each.ms)
      case 'enqueueAlike':
        return this.#enqueueAlike(each.count, each.again)
      case 'enqueue':
        return this.#enqueue(each.specs, each.again)
      case 'claim':
        return this.#claim(each)
      case 'retry':
        return this.#retry(each.backs, each.delayMs, each.again)
      case 'bury':
        return this.#bury(each.backs, each.again)
      case 'extend':
        return this.#extend(each.backs, each.leaseMs)
      default:
        return this.#manage(each)
    }
  }

  async #manage(
    each: Exclude<
      Step,
      { do: 'advance' | 'enqueueAlike' | 'enqueue' | 'claim' | 'retry' | 'bury' | 'extend' }
    >,
  ): Promise<void> {
    if (each.do === 'configure') return this.#configure(each)
    if (each.do === 'configureGroup') return this.#configureGroup(each.group, each.concurrency)
    if (each.do === 'requeueFailed') return this.#requeueFailed(each.limit, each.drops)
    const numbers = each.picks.map((back) => this.#numbers.at(-1 - (back % this.#numbers.length)) ?? 1)
    const wanted = numbers.map(String)
    if (each.do === 'cancel')
      await this.#same('cancel', { wanted }, ['cancelled', this.#model.cancel(numbers)])
    else if (each.do === 'requeue')
      await this.#same('requeue', { wanted }, ['requeued', this.#model.requeue(numbers)])
    else {
      const { priority } = each as Extract<Step, { do: 'reprioritize' }>
      const expected = ['changed', this.#model.reprioritize(numbers, priority)]
      await this.#same('reprioritize', { wanted, priority }, expected)
    }
  }

  async #advance(ms: number): Promise<void> {
    this.#model.nowUs += ms * 1000
    await setTestClock(driver, this.#prefix, this.#model.nowUs)
  }

  async #enqueueAlike(count: number, again: boolean): Promise<void> {
    const payloads = Array.from({ length: count }, (_, at) => `p${at}`)
    const first = this.#model.enqueueAlike(payloads)
    this.#numbers.push(...payloads.map((_, at) => first + at))
    await this.#once('enqueue-alike', { payloads }, ['enqueued', first], again)
  }

  async #enqueue(given: readonly Spec[], again: boolean): Promise<void> {
    const specs = given.map((spec) => ({ ...spec, ...OPTIONS }))
    const [first, duplicates] = this.#model.enqueue(given)
    this.#numbers.push(...specs.map((_, at) => first + at))
    await this.#once('enqueue', { specs }, ['enqueued', first, duplicates], again)
  }

  async #claim({ limit, leaseMs, backs, again }: Extract<Step, { do: 'claim' }>): Promise<void> {
    const given = this.#claimsAt(backs)
    const { nowMs, settings } = this.#model
    const refused = this.#model.ack(given)
    const jobs = this.#model.claim(limit, leaseMs)
    this.#claims.push(...jobs.map(({ number, token }): Claim => [number, token]))
    const endsMs = jobs.length > 0 ? nowMs + leaseMs : 0
    const options = jobs.flatMap((job, at) => (job.isFull ? [optionsOf(job, at)] : []))
    const args = { limit, lease_ms: leaseMs, acks: given.map(([number, token]) => ({ number, token })) }
    const told = jobs.map(({ number, token, attempts, payload }) => [
      number,
      token,
      attempts,
      'mail',
      payload,
    ])
    // The quick way first, as bindings do: where it declines, and only there, it must have done nothing.
    const expected = { refused, options, told, waits: [nowMs, endsMs, false, 0] }
    if (limit % 2 === 0 && (await this.#claimQuickly(args, expected))) return
    await this.#once(
      'ack-and-claim',
      args,
      ['claimed', nowMs, endsMs, false, 0, settings.paused, refused, told, options],
      again,
    )
  }

  async #claimQuickly(args: Arguments, { refused, options, told, waits }: Expected): Promise<boolean> {
    this.#call += 1
    const all = { ...args, caller: 'p:1', call: String(this.#call) }
    const answer = await this.#run('ack-and-claim-plain', all)
    if (answer[0] === 'declined') return false
    quickClaims += 1
    expect([refused, options]).toEqual([[], []])
    expect(this.#bindings.mismatch(['claimed', ...waits, told], answer), JSON.stringify(all)).toBe(null)
    return true
  }

  async #retry(backs: number[], delayMs: number, again: boolean): Promise<void> {
    const given = this.#claimsAt(backs)
    const { refused, buried } = this.#model.retry(given, delayMs)
    const failures = given.map(([number, token]) => ({ number, token, delay_ms: delayMs }))
    await this.#once('retry', { failures }, ['retried', refused, buried], again)
  }

  async #bury(backs: number[], again: boolean): Promise<void> {
    const given = this.#claimsAt(backs)
    const failures = given.map(([number, token]) => ({ number, token }))
    await this.#once('bury', { failures }, ['buried', this.#model.bury(given)], again)
  }

  async #extend(backs: number[], leaseMs: number): Promise<void> {
    const given = this.#claimsAt(backs)
    const claims = given.map(([number, token]) => ({ number, token }))
    const { nowMs } = this.#model
    const expected = ['extended', nowMs, nowMs + leaseMs, this.#model.extend(given, leaseMs)]
    await this.#same('extend', { lease_ms: leaseMs, claims }, expected)
  }

  /** Which jobs these are the queue says: the oldest dead ones of a kind. */
  async #requeueFailed(limit: number, drops: boolean): Promise<void> {
    const kind = 'broken'
    const number = /^\d+/.exec((await client.hget(`${this.#prefix}:kinds`, kind)) ?? '')?.[0] ?? 'none'
    const args = [`${this.#prefix}:failed`, number, number] as const
    const all = number === 'none' ? [] : await client.zrangebyscore(...args)
    const chosen = all.slice(0, limit)
    const expected = ['requeued', chosen.length, all.length - chosen.length]
    this.#model.requeueFailed(chosen.map(Number), drops)
    await this.#same('requeue-failed', { kind, limit, drops }, expected)
  }

  async #configure({ paused, concurrency, keepCount }: Extract<Step, { do: 'configure' }>): Promise<void> {
    Object.assign(this.#model.settings, { paused, concurrency, keepCount })
    const args = { paused: Number(paused), concurrency, keep_count: keepCount }
    await this.#same('configure', args, ['configured', paused, concurrency, 0, 0, keepCount, 0])
  }

  async #configureGroup(name: string, concurrency: number): Promise<void> {
    const [ready, claimed] = this.#model.places.configure(name, concurrency)
    await this.#same('configure-group', { name, concurrency }, [
      'configured',
      false,
      concurrency,
      0,
      0,
      ready,
      claimed,
    ])
  }

  async #inspect(): Promise<void> {
    const { settings, counts, places, nowMs } = this.#model
    const each = [['ready'], ['scheduled'], ['claimed', 'stopping'], ['dead'], ['done']] as const
    const overdue = this.#model.in('scheduled', 'claimed', 'stopping').filter(({ atMs }) => atMs <= nowMs)
    const { enqueued, acked, retried, buried, reclaimed, cancelled } = counts
    const head = [
      'inspection',
      nowMs,
      '*',
      'json',
      settings.paused,
      settings.concurrency,
      0,
      0,
      settings.keepCount,
      0,
    ]
    const inStates = each.map((states) => this.#model.in(...states).length)
    const counters = [enqueued, acked, retried, buried, reclaimed, cancelled]
    const bytes = each.map((states) => this.#model.bytesIn(...states))
    await this.#same('inspect', {}, [
      ...head,
      ...inStates,
      overdue.length,
      places.groups,
      0,
      ...counters,
      ...bytes,
      '*',
    ])
  }

  /** The newest first. */
  #claimsAt(backs: readonly number[]): Claim[] {
    return backs.map((back) => this.#claims.at(-1 - (back % this.#claims.length)) ?? [1, 1])
  }

  /** A call that is remembered; `again`: it is sent twice, as after a lost answer. */
  async #once(name: string, args: Arguments, expected: readonly unknown[], again: boolean): Promise<void> {
    this.#call += 1
    const all = { ...args, caller: 'p:1', call: String(this.#call) }
    await this.#same(name, all, expected)
    if (again) await this.#same(name, all, expected)
  }

  async #same(name: string, args: Arguments, expected: readonly unknown[]): Promise<void> {
    const answer = await this.#run(name, args)
    const told = `${name} ${JSON.stringify(args)} answered ${JSON.stringify(answer)}`
    expect(this.#bindings.mismatch(expected, answer), told).toBe(null)
  }

  #run(name: string, args: Arguments): Promise<Value[]> {
    const operation = `queue/${name}`
    return runOperation(
      driver,
      contract,
      operation,
      `${this.#prefix}:`,
      argumentsOf(vectors, operation, args),
    )
  }
}

function optionsOf({ number, priority, spec, group }: Job, at: number): unknown[] {
  const id = spec === null || spec.id === '' ? String(number) : spec.id
  return [at, id, priority, spec?.max_attempts ?? 3, 0, group, '', '']
}

test('a queue answers every history as the model does', { timeout: 3_600_000 }, async () => {
  const history = fc.array(step, { minLength: 1, maxLength: 60, size: 'max' })
  const property = fc.asyncProperty(history, (steps) => new History().play(steps))
  const numRuns = LONG ? 10_000 : 100

  await fc.assert(property, { numRuns, seed: SEED })
  expect(quickClaims).toBeGreaterThan(0)
  tell(
    `queue: ${numRuns} random histories answered as by the model, ${quickClaims} quick claims, seed ${SEED}`,
  )
})
