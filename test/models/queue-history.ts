import type { Redis } from 'ioredis'
import { expect } from 'vitest'
import { START_US } from '../../src/testing/test-clock.ts'
import type { QueueCalls } from './queue-calls.ts'
import type { Spec } from './queue-job.ts'
import type { LetterReader } from './queue-letters.ts'
import type { Claim } from './queue-life.ts'
import { QueueModel } from './queue-model.ts'
import type { Step } from './queue-steps.ts'
import { faultsOfUnit } from '../audit/audit.ts'
import { inspectionOf, optionsOf, claimedRowOf } from './queue-answers.ts'

const OPTIONS = {
  name: 'mail',
  max_run_ms: 0,
  backoff: 2,
  backoff_ms: 500,
  backoff_max_ms: 0,
  jitter: 0,
  trace: '',
}

type Managing = Exclude<
  Step,
  { do: 'advance' | 'enqueueAlike' | 'enqueue' | 'claim' | 'offer' | 'retry' | 'fail' | 'extend' }
>

/** One history: the calls to the queue and the model, and the jobs and tokens that they gave out. */
export class History {
  readonly #calls: QueueCalls
  readonly #client: Redis
  readonly #worker: LetterReader
  readonly #model = new QueueModel(START_US)
  readonly #claims: Claim[] = [[1, 1]]
  readonly #numbers: number[] = [1]

  constructor(calls: QueueCalls, client: Redis, worker: LetterReader) {
    this.#calls = calls
    this.#client = client
    this.#worker = worker
  }

  async play(steps: readonly Step[]): Promise<void> {
    await this.#advance(0)
    for (const each of steps) {
      await this.#step(each)
      await this.#calls.same('inspect', {}, inspectionOf(this.#model))
      expect(await faultsOfUnit(this.#client, this.#calls.prefix), JSON.stringify(each)).toEqual([])
    }
    await this.#calls.run('clear', {})
    expect(await this.#client.keys(`${this.#calls.prefix.replace(/[{}]/g, '?')}:[^c]*`)).toEqual([])
    await this.#client.unlink(`${this.#calls.prefix}:clock`)
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
      case 'offer':
        return this.#offer(each)
      case 'retry':
        return this.#retry(each.backs, each.delayMs, each.again)
      case 'fail':
        return this.#fail(each.backs, each.again)
      case 'extend':
        return this.#extend(each.backs, each.leaseMs)
      default:
        return this.#manage(each)
    }
  }

  async #manage(each: Managing): Promise<void> {
    if (each.do === 'configure') return this.#configure(each)
    if (each.do === 'configureGroup') return this.#configureGroup(each.group, each.concurrency)
    if (each.do === 'requeueDead') return this.#requeueDead(each.limit, each.drops)
    if (each.do === 'tag') return this.#tag(each)
    const numbers = each.picks.map((back) => this.#numbers.at(-1 - (back % this.#numbers.length)) ?? 1)
    const wanted = numbers.map(String)
    if (each.do === 'reprioritize') {
      const { priority } = each
      const expected = ['changed', this.#model.reprioritize(numbers, priority)]
      await this.#calls.same('reprioritize', { wanted, priority }, expected)
    } else if (each.do === 'track') {
      const { follows } = each
      const expected = ['tracking', this.#model.track(numbers, follows)]
      await this.#calls.same('track', { wanted, follows }, expected)
    } else if (each.do === 'cancel') {
      await this.#calls.same('cancel', { wanted }, ['cancelled', 0, this.#model.cancel(numbers)])
    } else {
      await this.#calls.same('requeue', { wanted }, ['requeued', this.#model.requeue(numbers)])
    }
  }

  async #tag({ pick, adds, tags }: Extract<Step, { do: 'tag' }>): Promise<void> {
    const number = this.#numbers.at(-1 - (pick % this.#numbers.length)) ?? 1
    const expected = this.#model.tag(number, tags, adds)
    await this.#calls.same('tag', { id: String(number), adds, tags }, expected)
  }

  async #advance(ms: number): Promise<void> {
    this.#model.nowUs += ms * 1000
    await this.#calls.setClock(this.#model.nowUs)
  }

  async #enqueueAlike(count: number, again: boolean): Promise<void> {
    const payloads = Array.from({ length: count }, (_, at) => `p${at}`)
    const first = this.#model.enqueueAlike(payloads)
    this.#numbers.push(...payloads.map((_, at) => first + at))
    await this.#calls.once('enqueue-alike', { payloads }, ['enqueued', first], again)
  }

  async #enqueue(given: readonly Spec[], again: boolean): Promise<void> {
    const specs = given.map((spec) => ({ ...spec, ...OPTIONS }))
    const [first, duplicates] = this.#model.enqueue(given)
    this.#numbers.push(...specs.map((_, at) => first + at))
    await this.#calls.once('enqueue', { specs }, ['enqueued', first, 0, duplicates], again)
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
    const rows = jobs.map(claimedRowOf)
    const expected = ['claimed', nowMs, endsMs, false, 0, settings.paused, 0, refused, rows, options]
    // Every other claim tries the fast path first, as bindings do.
    if (limit % 2 === 0) await this.#calls.claimQuickly(args, expected, again)
    else await this.#calls.once('ack-and-claim', args, expected, again)
  }

  /** A job comes while a worker waits that takes jobs by letter: it gets what it would have claimed. */
  async #offer({ limit, leaseMs, again }: Extract<Step, { do: 'offer' }>): Promise<void> {
    const { nowMs, settings } = this.#model
    const worker = this.#worker.name(leaseMs)
    const jobs = this.#model.claim(limit, leaseMs)
    this.#claims.push(...jobs.map(({ number, token }): Claim => [number, token]))
    const waits = jobs.length < limit
    if (waits) this.#model.noteTime()
    const expected = ['claimed', nowMs, '*', waits, '*', settings.paused, 0, [], jobs.map(claimedRowOf), '*']
    await this.#calls.same('ack-and-claim', { limit, lease_ms: leaseMs, worker }, expected)

    const number = this.#model.enqueueAlike(['offered'])
    this.#numbers.push(number)
    await this.#calls.once(
      'enqueue-alike',
      { payloads: ['offered'], ...this.#worker.how },
      ['enqueued', number],
      again,
    )
    const isHanded = (await this.#client.hexists(`${this.#calls.prefix}:jobs`, `r${number}`)) === 1
    if (isHanded) await this.#readLetter(number, leaseMs)
    const left = ['claimed', nowMs, 0, '*', 0, settings.paused, 0, [], [], []]
    await this.#calls.same('ack-and-claim', { limit: 0, worker }, left)
  }

  async #readLetter(number: number, leaseMs: number): Promise<void> {
    const [job] = this.#model.claim(1, leaseMs)
    expect(job?.number).toBe(number)
    const token = job?.token ?? 0
    this.#claims.push([number, token])
    const endsMs = this.#model.nowMs + leaseMs
    expect(await this.#worker.letter()).toBe(`${number} ${token} ${endsMs}\nmail\noffered`)
  }

  async #retry(backs: number[], delayMs: number, again: boolean): Promise<void> {
    const given = this.#claimsAt(backs)
    const { refused, dead } = this.#model.retry(given, delayMs)
    const failures = given.map(([number, token]) => ({ number, token, delay_ms: delayMs }))
    await this.#calls.once('retry', { failures }, ['retried', 0, refused, dead], again)
  }

  async #fail(backs: number[], again: boolean): Promise<void> {
    const given = this.#claimsAt(backs)
    const failures = given.map(([number, token]) => ({ number, token }))
    await this.#calls.once('fail', { failures }, ['failed', 0, this.#model.fail(given)], again)
  }

  async #extend(backs: number[], leaseMs: number): Promise<void> {
    const given = this.#claimsAt(backs)
    const claims = given.map(([number, token]) => ({ number, token }))
    const { nowMs } = this.#model
    const expected = ['extended', nowMs, nowMs + leaseMs, this.#model.extend(given, leaseMs)]
    await this.#calls.same('extend', { lease_ms: leaseMs, claims }, expected)
  }

  /** Which jobs these are the queue says: the oldest dead ones of a kind. */
  async #requeueDead(limit: number, drops: boolean): Promise<void> {
    const kind = 'broken'
    const number =
      /^\d+/.exec((await this.#client.hget(`${this.#calls.prefix}:kinds`, kind)) ?? '')?.[0] ?? 'none'
    const args = [`${this.#calls.prefix}:failed`, number, number] as const
    const all = number === 'none' ? [] : await this.#client.zrangebyscore(...args)
    const chosen = all.slice(0, limit)
    const kept = this.#model.requeueDead(chosen.map(Number), drops)
    const next = chosen.length === all.length ? -1 : Number(chosen.at(-1))
    const left = all.length - chosen.length + kept
    const expected = ['requeued', chosen.length - kept, left, 0, next, '*']
    await this.#calls.same('requeue-dead', { kind, limit, drops }, expected)
  }

  async #configure({
    paused,
    concurrency,
    retentionCount,
  }: Extract<Step, { do: 'configure' }>): Promise<void> {
    Object.assign(this.#model.settings, { paused, concurrency, retentionCount })
    const args = { paused: Number(paused), concurrency, retention_count: retentionCount }
    await this.#calls.same('configure', args, ['configured', paused, concurrency, 0, 0, retentionCount, 0, 0])
  }

  async #configureGroup(name: string, concurrency: number): Promise<void> {
    const [ready, claimed] = this.#model.places.configure(name, concurrency)
    await this.#calls.same('configure-group', { name, concurrency }, [
      'configured',
      false,
      concurrency,
      0,
      0,
      ready,
      claimed,
      0,
    ])
  }

  /** The newest first. */
  #claimsAt(backs: readonly number[]): Claim[] {
    return backs.map((back) => this.#claims.at(-1 - (back % this.#claims.length)) ?? [1, 1])
  }
}
