import { clear, get, inspect, refund, release, take } from '../generated/rate-limit.ts'
import { checkInteger, checkOptions, checkToken } from '../runtime/values/arguments.ts'
import { InvalidArgumentError, LeaseLostError } from '../runtime/errors/errors.ts'
import type { CallId } from '../runtime/calls/call-ids.ts'
import { checkName } from '../runtime/values/keys.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { Unit } from '../runtime/connection/unit.ts'
import {
  type Decision,
  nameAt,
  type SubjectInspection,
  toAllowed,
  toDenied,
  toMsUp,
  toStates,
} from './decision.ts'
import { type Limit, maxCost, type LimitTerms, toManyTerms, toOnlyTerms } from './limits.ts'
import { checkOnOutage, decideWithout, type OnOutage } from './outage.ts'
import { holdsPlaces, takePlaces } from './places.ts'
import { Taker } from './take.ts'

export interface OutageOptions {
  /**
   * What `take` and `get` do while the store cannot decide: `throw`, `fail-open` (allow) or `fail-closed` (deny).
   * Default: `throw`.
   */
  onOutage?: OnOutage
}

/** One limit, or 1 to 8 named limits that each take uses together: all or none. */
export type RateLimitOptions = (Limit | { limits: Readonly<Record<string, Limit>> }) & OutageOptions

export interface TakeOptions {
  /** The units to take from every limit that counts units. Default: 1. */
  cost?: number
}

export interface RefundOptions {
  /** The units to give back. Default: 1. */
  cost?: number
  /**
   * The token of the take. Without it the units are refunded as if just taken, and a repeated refund is applied
   * again. Default: none.
   */
  token?: number
}

const NO_OPTIONS = {}

/**
 * Limits for each subject, such as a user, an address or an API key. One script call decides for all limits of a
 * subject, by the server's clock; a denied take consumes nothing.
 */
export class RateLimit<Outcome extends Decision = Decision> {
  readonly name: string
  readonly #runtime: Runtime
  readonly #terms: readonly LimitTerms[]
  /** Set for a single gcra limit: its takes share script calls. */
  readonly #taker: Taker | null
  readonly #maxCost: number
  readonly #onOutage: OnOutage

  constructor(runtime: Runtime, name: string, options: RateLimitOptions) {
    this.#runtime = runtime
    this.name = checkName('name', name)
    if (typeof options !== 'object' || options === null) checkOptions('options', options, [])
    const { onOutage = 'throw', ...limits } = options
    this.#onOutage = checkOnOutage(onOutage)
    if ('limits' in limits) checkOptions('options', limits, ['limits'])
    this.#terms = 'limits' in limits ? toManyTerms(limits.limits) : toOnlyTerms(limits)
    const only = onlyGcra(this.#terms)
    this.#taker = only && new Taker(runtime, runtime.prefix('rate-limit', name), only)
    this.#maxCost = maxCost(this.#terms)
  }

  /**
   * Takes `cost` units from every limit that counts units and a place from every concurrency limit, or nothing at
   * all. Resolves to the decision. Throws InvalidArgumentError for a cost that could never be allowed.
   */
  async take(subject: string, options: TakeOptions = NO_OPTIONS): Promise<Outcome> {
    const cost = this.#costOf(options, ['cost'])
    const unit = this.#unit(subject)
    try {
      const decision = await (this.#taker?.take(unit, cost) ?? this.#takeAll(unit, cost))
      return decision as Outcome
    } catch (error) {
      return this.#decideWithout(error)
    }
  }

  /** The decision that `take` would make now. Takes and writes nothing. Throws InvalidArgumentError. */
  async get(subject: string, options: TakeOptions = NO_OPTIONS): Promise<Outcome> {
    const cost = this.#costOf(options, ['cost'])
    const unit = this.#unit(subject)
    try {
      return (await this.#peek(unit, cost)) as Outcome
    } catch (error) {
      return this.#decideWithout(error)
    }
  }

  /**
   * Gives unused units back to every limit that counts units, never more than were taken. Resolves to false when this
   * token was already refunded, or the subject is unknown. Throws InvalidArgumentError.
   */
  async refund(subject: string, options: RefundOptions = NO_OPTIONS): Promise<boolean> {
    const cost = this.#costOf(options, ['cost', 'token'])
    const token = options.token === undefined ? 0 : checkToken(options.token)
    const limits = this.#terms
    const answer = await this.#unit(subject).runOnce(refund, ({ caller, call }) => ({
      caller,
      call: Number(call),
      token,
      cost,
      limits,
    }))
    return answer.status === 'refunded'
  }

  /**
   * Frees the places that a take holds in concurrency limits. Throws LeaseLostError when the take holds no place: it
   * was already released, or its lease has ended. Throws InvalidArgumentError without a concurrency limit.
   */
  async release(subject: string, token: number): Promise<void> {
    checkToken(token)
    const limits = this.#terms.filter(holdsPlaces)
    if (limits.length === 0) {
      throw new InvalidArgumentError('token', "holds no place: no limit here has the algorithm 'concurrency'")
    }
    const args = ({ caller, call }: CallId) => ({ caller, call: Number(call), token, limits })
    const answer = await this.#unit(subject).runOnce(release, args, { atClose: 'gives back' })
    if (answer.status === 'released') return
    throw new LeaseLostError(`place of subject '${subject}' of rate limit '${this.name}'`, token)
  }

  /** Reads the state of a subject: each limit, and the takes that hold places. */
  async inspect(subject: string): Promise<SubjectInspection> {
    const answer = await this.#unit(subject).run(inspect, { limits: this.#terms })
    const held = answer.held.map(({ limit, token, endsUs }) => ({
      limit: nameAt(this.#terms, limit),
      token,
      expiresAtMs: toMsUp(endsUs),
    }))
    return { exists: answer.known, limits: toStates(this.#terms, answer.limits), held }
  }

  /** Deletes the state of a subject; its places are lost. Resolves to false when the subject was unknown. */
  async clear(subject: string): Promise<boolean> {
    return (await this.#unit(subject).run(clear, {})).existed
  }

  async #takeAll(unit: Unit, cost: number): Promise<Decision> {
    const limits = this.#terms
    const answer = await (limits.some(holdsPlaces)
      ? takePlaces(unit, cost, limits)
      : unit.runOnce(take, ({ caller, call }) => ({ caller, call: Number(call), cost, limits })))
    return answer.status === 'taken' ? toAllowed(limits, answer, answer.token) : toDenied(limits, answer)
  }

  async #peek(unit: Unit, cost: number): Promise<Decision> {
    const answer = await unit.run(get, { cost, limits: this.#terms })
    return answer.status === 'allowed' ? toAllowed(this.#terms, answer, 0) : toDenied(this.#terms, answer)
  }

  // The type of the options decides whether `Outcome` includes Outage.
  #decideWithout(error: unknown): Outcome {
    return decideWithout(error, this.#onOutage) as Decision as Outcome
  }

  #costOf(options: TakeOptions, known: readonly string[]): number {
    if (options !== NO_OPTIONS) checkOptions('options', options, known)
    return checkInteger('cost', options.cost ?? 1, 1, this.#maxCost)
  }

  #unit(subject: string): Unit {
    const place = {
      structure: 'rate-limit',
      name: this.name,
      unit: checkName('subject', subject),
      since: '6.2.0',
    }
    return new Unit(this.#runtime, place)
  }
}

function onlyGcra(terms: readonly LimitTerms[]): LimitTerms | null {
  const [only] = terms
  return terms.length === 1 && only?.algorithm === 'gcra' ? only : null
}
