// Beginning an attempt: a script call, safe to repeat by the attempt's id.

import { randomUUID } from 'node:crypto'
import { abandon, type BeginAnswer, begin } from '../generated/once.ts'
import { ResultNotKeptError } from '../runtime/errors/errors.ts'
import { askingAt, type Grant, toGrant } from '../runtime/keeper/grant.ts'
import { checkName } from '../runtime/values/keys.ts'
import { didNotHappen } from '../runtime/errors/outage.ts'
import { closed, type Trace } from '../runtime/calls/runner.ts'
import type { Unit } from '../runtime/connection/unit.ts'
import { Attempt } from './attempt.ts'
import { lost } from './end.ts'
import { checkFingerprint } from './fingerprint.ts'
import { decodeResult, resourceOf, type OnceSource, unitOf } from './source.ts'

export interface BeginOptions {
  /** Of the request: the same key with another one is a conflict. Default: none. At most 512 bytes. */
  fingerprint?: string
  /** Names the attempt: a `begin` that is repeated with it gets the same one. Default: made by the library. */
  id?: string
}

/** What became of a `begin`. */
export type Begun<Result> =
  /** The key is yours: do the work, then complete. */
  | { readonly status: 'started'; readonly attempt: Attempt<Result> }
  /** The work was done before. */
  | { readonly status: 'replayed'; readonly result: Result; readonly token: number }
  /** The key came with another fingerprint before. */
  | { readonly status: 'conflict' }
  /** Another attempt is under way: its lease ends after `retryAfterMs`, unless it is extended. */
  | { readonly status: 'running'; readonly retryAfterMs: number }

/** An attempt as the script takes it. */
export interface BeginTerms {
  readonly key: string
  readonly id: string
  /** Made by the library: nobody else can ask for the attempt of this id. */
  readonly isOwn: boolean
  readonly fingerprint: string
}

/** Checks the options. Throws InvalidArgumentError. */
export function toBeginTerms(key: string, { fingerprint, id }: BeginOptions): BeginTerms {
  return {
    key: checkName('key', key),
    id: id === undefined ? randomUUID() : checkName('id', id),
    isOwn: id === undefined,
    fingerprint: checkFingerprint(fingerprint),
  }
}

/** Throws as `Wish.ask`. */
export async function beginAttempt<Result>(
  source: OnceSource<Result>,
  terms: BeginTerms,
): Promise<Begun<Result>> {
  const wish = new Wish(source, terms)
  return wish.untilOver(() => wish.begin())
}

/** What the script says, whoever the attempt is for. */
export type Answered<Result> = { readonly status: 'started'; readonly grant: Grant } | NotStarted<Result>

type NotStarted<Result> = Exclude<Begun<Result>, { status: 'started' }>

/**
 * The wish of one caller to begin an attempt, which asks as often as it takes. What is begun for it that it does not learn of is
 * given back: the answer came after the deadline, or a copy of the question after the end of the attempt. That of an id which
 * the caller chose is not, for it may be repeated, and then is somebody's.
 */
export class Wish<Result> {
  readonly #source: OnceSource<Result>
  readonly #terms: BeginTerms
  readonly #unit: Unit
  readonly #trace: Trace = { atClose: 'goes on' }
  #asking: Promise<unknown> = Promise.resolve()

  constructor(source: OnceSource<Result>, terms: BeginTerms) {
    this.#source = source
    this.#terms = terms
    this.#unit = unitOf(source, terms.key)
  }

  /** Resolves as the work, in which it asks; from then on nothing more is wanted but what that has resolved to. */
  async untilOver<Value extends { readonly status: string } | null>(
    work: () => Promise<Value>,
  ): Promise<Value> {
    let isBegun = false
    try {
      const value = await work()
      isBegun = value?.status === 'started'
      return value
    } finally {
      if (!isBegun) this.#isOver(0)
    }
  }

  /** As `ask`, for an attempt of this process. */
  async begin(): Promise<Begun<Result>> {
    const answer = await this.ask()
    if (answer.status !== 'started') return answer
    const attempt = new Attempt(this.#source, this.#terms.key, this.#guarded(answer.grant))
    // It came while the instance closes, and is given back already.
    if (this.#source.runtime.runner.closed) throw closed()
    return { status: 'started', attempt }
  }

  /** What it was told to begin is somebody else's, who ends it unseen. */
  hasLeased(token: number): void {
    this.#isOver(token)
  }

  /** Gives back what came for a caller who has left. */
  async giveBack(begun: Begun<Result> | Answered<Result>): Promise<void> {
    if (begun.status !== 'started' || !this.#terms.isOwn) return
    if ('attempt' in begun) await begun.attempt.releaseAnyway()
    else this.#abandon(0)
  }

  /**
   * What the server says to it, which is asked again where the lease was over before its answer came. Throws LeaseLostError when
   * the attempt of that id has been released, or where no answer comes before its lease is over, ResultNotKeptError when the work
   * was done and its result could not be kept, or cannot be read.
   */
  ask(): Promise<Answered<Result>> {
    const asking = this.#askUntilHeld()
    this.#asking = asking
    return asking
  }

  async #askUntilHeld(): Promise<Answered<Result>> {
    const { runner } = this.#source.runtime
    const by = performance.now() + runner.deadlineMs
    for (;;) {
      const askedAt = askingAt()
      this.#trace.by = by
      const answer = await this.#askOnce()
      if (answer.status !== 'started') return answer
      const grant = toGrant(answer, askedAt)
      if (grant.endsAt > performance.now()) return { status: 'started', grant }
      if (performance.now() >= by) throw lost(this.#source, this.#terms.key, grant.token)
    }
  }

  async #askOnce(): Promise<Extract<BeginAnswer, { status: 'started' }> | NotStarted<Result>> {
    const { codec, leaseMs, resultTtlMs } = this.#source
    const { key, id, fingerprint } = this.#terms
    const args = { codec: codec.name, id, fingerprint, leaseMs, resultTtlMs }
    const answer = await this.#unit.run(begin, args, this.#trace)
    if (answer.status === 'lost') throw lost(this.#source, key, answer.token)
    if (answer.status === 'unkept') throw new ResultNotKeptError(resourceOf(this.#source, key))
    if (answer.status !== 'replayed') return answer
    return { status: 'replayed', result: decodeResult(this.#source, key, answer.result), token: answer.token }
  }

  /** A copy of the question does nothing while the attempt is under way. */
  #guarded(grant: Grant): Grant {
    if (this.#trace.repeated !== true) return grant
    return { ...grant, onOver: () => this.#isOver(grant.token) }
  }

  /** `token`: of the attempt that was had; 0: none was. */
  #isOver(token: number): void {
    if (!this.#terms.isOwn) return
    this.#asking.then(
      () => this.#trace.repeated === true && this.#abandon(token),
      (error: unknown) => didNotHappen(error) || this.#abandon(token),
    )
  }

  #abandon(token: number): void {
    const { id } = this.#terms
    const say = async (): Promise<unknown> => {
      const { channel, sharded } = this.#unit
      return this.#unit.run(abandon, { id, token, channel, sharded }, { atClose: 'gives back' })
    }
    this.#source.runtime.mailbox.abandoned.add(id, { say, node: () => this.#unit.node, mayComeLate: true })
  }
}
