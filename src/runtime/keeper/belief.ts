// Until when this process may regard a lease as held. In doubt, until the earliest end that the server may have.
//
//   KNOWN ──ask──► ASKED: the earlier of the current end and the end if the server carries out the request
//     ▲              │
//     ├── answered ──┤ the end that the server returned, unless it carried out another request later
//     ├── refused ───┤ the previous end
//     └─ unanswered ─┘ the earlier of both
//
// Several requests may be under way at once. Extensions by other processes are noted without a request.

import { didNotHappen } from '../errors/outage.ts'
import { askingAt, End, endOf, ROUNDING_MS } from './grant.ts'

/** A requested extension. */
export interface ExtensionQuestion {
  readonly askedAt: number
  readonly leaseMs: number
  /** The earliest end of the lease if the server carries it out. */
  readonly end: End
}

/** The server's answer, by the server's clock. */
export interface ExtensionAnswer {
  readonly nowMs: number
  readonly expiresAtMs: number
}

const NONE: readonly ExtensionQuestion[] = []

export class Belief {
  #expiresAtMs: number
  #end: End
  #underWay = NONE
  /**
   * When the last answer came, and the server's time in it. Null for most leases, which are never extended; creating it
   * for each would cost time.
   */
  #lastAnswer: { readonly at: number; readonly nowMs: number } | null = null

  /** The latest end of the lease if failed extensions were carried out nevertheless, by `performance.now()`. */
  #mayLastUntil = -Infinity

  /** `end` for this process, `expiresAtMs` by the server. */
  constructor(end: End, expiresAtMs: number) {
    this.#end = end
    this.#expiresAtMs = expiresAtMs
  }

  /** By the server's clock. */
  get expiresAtMs(): number {
    return this.#expiresAtMs
  }

  /** By `performance.now()`, less all suspensions noticed since. */
  get endsAt(): number {
    let { at } = this.#end
    for (const { end } of this.#underWay) at = Math.min(at, end.at)
    return at
  }

  /** By `performance.now()` alone. */
  get latestEndsAt(): number {
    let { latest } = this.#end
    for (const { end } of this.#underWay) latest = Math.min(latest, end.latest)
    return latest
  }

  /**
   * Until when the server may hold the lease beyond the end for this process, by `performance.now()`; in the past: no
   * longer than that.
   */
  get mayLastUntil(): number {
    const now = performance.now()
    const lengths = this.#underWay.map(({ leaseMs }) => now + leaseMs)
    return Math.max(this.#mayLastUntil, this.#end.latest, ...lengths)
  }

  /** Checks for suspensions first; never below 0. */
  get leftMs(): number {
    const { leftMs } = this.#end
    return this.#underWay === NONE ? leftMs : Math.max(0, this.endsAt - performance.now())
  }

  /** A request is neither answered nor given up. */
  get isAsked(): boolean {
    return this.#underWay !== NONE
  }

  ask(leaseMs: number): ExtensionQuestion {
    const askedAt = askingAt()
    const question = { askedAt, leaseMs, end: new End(askedAt + leaseMs - ROUNDING_MS) }
    this.#underWay = [...this.#underWay, question]
    return question
  }

  answered(question: ExtensionQuestion, answer: ExtensionAnswer): void {
    this.over(question)
    this.note(endOf(question.askedAt, answer.expiresAtMs - answer.nowMs), answer)
  }

  /**
   * The lease was extended until `end`. Of two concurrent extensions, the one that the server carried out last applies;
   * if the order is unclear, the one that ends earlier.
   */
  note(end: End, { nowMs, expiresAtMs }: ExtensionAnswer): void {
    const last = this.#lastAnswer
    const isBeside = last !== null && last.at > end.askedAt
    if (isBeside && (nowMs < last.nowMs || (nowMs === last.nowMs && end.at >= this.#end.at))) return
    this.#lastAnswer = { at: performance.now(), nowMs }
    this.#mayLastUntil = -Infinity
    this.#set(end, expiresAtMs)
  }

  /** No answer with an end arrived: the extension may have been carried out nevertheless. */
  failed(question: ExtensionQuestion, error: unknown): void {
    this.over(question)
    if (didNotHappen(error)) return
    this.#mayLastUntil = Math.max(this.#mayLastUntil, performance.now() + question.leaseMs)
    const earlierBy = this.#end.at - question.end.at
    if (earlierBy <= 0) return
    this.#set(question.end, Math.floor(this.#expiresAtMs - earlierBy))
  }

  /** The request is no longer under way, and has itself changed nothing. */
  over(question: ExtensionQuestion): void {
    const left = this.#underWay.filter((each) => each !== question)
    this.#underWay = left.length === 0 ? NONE : left
  }

  #set(end: End, expiresAtMs: number): void {
    this.#end = end
    this.#expiresAtMs = expiresAtMs
  }
}
