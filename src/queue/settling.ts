// What becomes of claimed jobs: the outcomes of one tick travel in one call of each kind.

import { ackAndClaim, bury, extend, release, retry } from '../generated/queue.ts'
import type { BatchTerms } from '../runtime/batcher.ts'
import { LeaseLostError } from '../runtime/errors.ts'
import { endsAtOf } from '../runtime/grant.ts'
import { learnTold } from '../runtime/told.ts'
import type { ClaimedJob, Leased, Settling } from './claimed-job.ts'
import { type Ack, exchange, type LossReason } from './exchange.ts'
import type { Source } from './source.ts'

/** Null: it took effect; else why it did not. */
type Outcome = LossReason | null

interface Failure {
  readonly number: string
  readonly token: number
  readonly delayMs: number
  readonly kind: string
  readonly message: string
}

/** What becomes of a job whose attempt failed. */
type Retried = 'retried' | 'buried'

const MAX_BYTES = 4 * 1024 * 1024
const LIMITS = { items: 500, bytes: MAX_BYTES, underWay: 2, waiting: 100_000 }
const ACKS: BatchTerms = { name: ackAndClaim.script.name, ...LIMITS }
const RETRIES: BatchTerms = { name: retry.script.name, ...LIMITS }
const RELEASES: BatchTerms = { name: release.script.name, ...LIMITS }
const BURIALS: BatchTerms = { name: bury.script.name, ...LIMITS }

export class Settler implements Settling {
  readonly #source: Source

  constructor(source: Source) {
    this.#source = source
  }

  async ack(job: Leased, result: unknown): Promise<void> {
    const ack = toAck(job, result, this.#source)
    const send = (acks: Ack[]): Promise<Outcome[]> => this.#sendAcks(acks)
    const outcome = await this.#batcher('acks', ACKS, send).addOne(ack, Buffer.byteLength(ack.result))
    this.#check(job, outcome)
  }

  async retry(job: Leased, delayMs: number, kind: string, message: string): Promise<Retried> {
    const failure = { number: job.number, token: job.token, delayMs, kind, message }
    const send = (failures: Failure[]): Promise<(Retried | LossReason)[]> => this.#sendRetries(failures)
    const outcome = await this.#batcher('retries', RETRIES, send).addOne(failure, message.length)
    if (outcome === 'retried' || outcome === 'buried') return outcome
    throw this.#lost(job, outcome)
  }

  async bury(job: Leased, kind: string, message: string): Promise<void> {
    const failure = { number: job.number, token: job.token, delayMs: 0, kind, message }
    const send = (failures: Failure[]): Promise<Outcome[]> => this.#sendBurials(failures)
    this.#check(job, await this.#batcher('burials', BURIALS, send).addOne(failure, message.length))
  }

  async release({ number, token }: Leased): Promise<void> {
    const send = (claims: Leased[]): Promise<Outcome[]> => this.#sendReleases(claims)
    const outcome = await this.#batcher('releases', RELEASES, send).addOne({ number, token }, number.length)
    this.#check({ number, token }, outcome)
  }

  async extend(job: ClaimedJob, leaseMs: number): Promise<void> {
    const [outcome = null] = await this.extendAll([job], leaseMs)
    this.#check(job, outcome)
  }

  /** Extends the leases of jobs in one call. Those that are lost are told so, and why in the answer. */
  async extendAll(jobs: readonly ClaimedJob[], leaseMs: number): Promise<Outcome[]> {
    const { unit, codec } = this.#source
    const claims = jobs.map(({ number, token }) => ({ number, token }))
    const askedAt = performance.now()
    const answer = await unit.run(extend, { codec: codec.name, leaseMs, claims })
    const refused = new Map(answer.refused.map(({ at, why }) => [at, why as LossReason]))
    const endsAt = endsAtOf(askedAt, answer.endsAtMs - answer.nowMs)
    return jobs.map((job, at) => {
      const why = refused.get(at) ?? null
      if (why === null) job.noteExtended(endsAt)
      else job.lose(why)
      return why
    })
  }

  #batcher<Item, Result>(what: string, terms: BatchTerms, send: (items: Item[]) => Promise<Result[]>) {
    const { unit, codec } = this.#source
    return unit.runtime.batcher<Item, Result>(`${unit.channel} ${codec.name} ${what}`, terms, send)
  }

  async #sendAcks(acks: readonly Ack[]): Promise<Outcome[]> {
    const { refused } = await exchange(this.#source, { acks, limit: 0, leaseMs: 0, worker: '' })
    return acks.map((_, at) => refused.get(at) ?? null)
  }

  async #sendRetries(failures: readonly Failure[]): Promise<(Retried | LossReason)[]> {
    const { unit, codec } = this.#source
    const told = await learnTold(unit)
    const answer = await unit.runOnce(retry, (id) => ({
      codec: codec.name,
      ...id,
      ...told,
      failures,
    }))
    const refused = new Map(answer.refused.map(({ at, why }) => [at, why as LossReason]))
    const buried = new Set(answer.buried)
    return failures.map((_, at) => refused.get(at) ?? (buried.has(at) ? 'buried' : 'retried'))
  }

  async #sendBurials(failures: readonly Failure[]): Promise<Outcome[]> {
    const { unit, codec } = this.#source
    const answer = await unit.runOnce(bury, (id) => ({ codec: codec.name, ...id, failures }))
    const refused = new Map(answer.refused.map(({ at, why }) => [at, why as LossReason]))
    return failures.map((_, at) => refused.get(at) ?? null)
  }

  async #sendReleases(claims: readonly Leased[]): Promise<Outcome[]> {
    const { unit, codec } = this.#source
    const told = await learnTold(unit)
    const answer = await unit.runOnce(release, (id) => ({ codec: codec.name, ...id, ...told, claims }))
    const refused = new Map(answer.refused.map(({ at, why }) => [at, why as LossReason]))
    return claims.map((_, at) => refused.get(at) ?? null)
  }

  #check(job: Leased, outcome: Outcome): void {
    if (outcome !== null) throw this.#lost(job, outcome)
  }

  #lost(job: Leased, why: LossReason): LeaseLostError {
    return new LeaseLostError(`job ${job.number} of queue '${this.#source.name}' (${why})`, job.token)
  }
}

/** Throws what the codec throws when it cannot hold the result. */
export function toAck({ number, token }: Leased, result: unknown, { codec }: Source): Ack {
  return { number, token, result: result === undefined ? '' : codec.encode(result) }
}
