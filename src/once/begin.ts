// Begins an attempt: one script call, safe to repeat because the attempt has an id.

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
  /**
   * The fingerprint of the request, at most 512 bytes, for example from `fingerprintOf`. The same key with another
   * fingerprint is a conflict. Default: none.
   */
  fingerprint?: string
  /**
   * The id of the attempt: a repeated `begin` with this id gets the same attempt. Default: a new id for each call.
   */
  id?: string
}

/** The result of `begin`. */
export type Begun<Result> =
  /** The caller holds the key: it does the work, then calls `attempt.complete`. */
  | { readonly status: 'started'; readonly attempt: Attempt<Result> }
  /** The work was done before; `token` is that of the attempt that did it. */
  | { readonly status: 'replayed'; readonly result: Result; readonly token: number }
  /** The key was used before with another fingerprint. */
  | { readonly status: 'conflict' }
  /** Another attempt is under way: its lease ends after `retryAfterMs`, unless it is extended. */
  | { readonly status: 'running'; readonly retryAfterMs: number }

/** An attempt as the script takes it. */
export interface BeginTerms {
  readonly key: string
  readonly id: string
  /** The library made the id: no other caller can ask for this attempt. */
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

/** Throws like `Wish.ask`. */
export async function beginAttempt<Result>(
  source: OnceSource<Result>,
  terms: BeginTerms,
): Promise<Begun<Result>> {
  const wish = new Wish(source, terms)
  return wish.untilOver(() => wish.begin())
}

/** The answer of the script, for attached and detached attempts. */
export type Answered<Result> = { readonly status: 'started'; readonly grant: Grant } | NotStarted<Result>

type NotStarted<Result> = Exclude<Begun<Result>, { status: 'started' }>

/**
 * One caller's request to begin an attempt; it asks the server as often as necessary. An attempt that began without
 * the caller's knowledge is released: its answer came after the deadline, or a late copy of the request began it
 * after the attempt had ended. An attempt with an id chosen by the caller is not released, because a repeated call
 * may own it.
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

  /**
   * Settles like `work`, which calls `ask`. Afterwards every attempt except the one that `work` resolved to is
   * released.
   */
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

  /** Like `ask`, for an attempt of this process. */
  async begin(): Promise<Begun<Result>> {
    const answer = await this.ask()
    if (answer.status !== 'started') return answer
    const { key, isOwn } = this.#terms
    const attempt = new Attempt(this.#source, key, this.#guarded(answer.grant), !isOwn)
    // The attempt arrived while the instance closes, and has already been released.
    if (this.#source.runtime.runner.closed) throw closed()
    return { status: 'started', attempt }
  }

  /** The attempt is detached: another process ends it, without notice to this one. */
  hasLeased(token: number): void {
    this.#isOver(token)
  }

  /** Releases an attempt whose caller no longer waits. */
  async giveBack(begun: Begun<Result> | Answered<Result>): Promise<void> {
    if (begun.status !== 'started' || !this.#terms.isOwn) return
    if ('attempt' in begun) await begun.attempt.releaseAnyway()
    else this.#abandon(0)
  }

  /**
   * The answer of the server. Asks again when the lease had expired before the answer arrived. Throws LeaseLostError
   * when the attempt with this id has been released, or when no answer arrives before its lease expires. Throws
   * ResultNotKeptError when the work was done and its result could not be stored, or cannot be read.
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
      const isSure = !this.#unit.runtime.keeper.mayBeCleared(this.#unit.beginning, askedAt)
      if (isSure && grant.endsAt > performance.now()) return { status: 'started', grant }
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

  /** A late copy of the request has no effect while the attempt is under way, so it is abandoned only afterwards. */
  #guarded(grant: Grant): Grant {
    if (this.#trace.repeated !== true) return grant
    return { ...grant, onOver: () => this.#isOver(grant.token) }
  }

  /** `token`: that of the attempt which this request held; 0: none. */
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
    this.#unit.lastWord(id, say, true)
  }
}
