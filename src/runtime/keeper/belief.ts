// Until when a process may believe in its lease, while extensions are under way, or were never answered. In doubt it is
// the earliest end that the server may have.

import { askingAt, End, endOf, type Grant, ROUNDING_MS } from './grant.ts'

/** An extension that was asked for. */
export interface Question {
  readonly askedAt: number
  readonly leaseMs: number
  /** When the lease ends at the earliest, should the server carry it out. */
  readonly end: End
}

/** What the server said to it, by its own clock. */
export interface Extension {
  readonly nowMs: number
  readonly expiresAtMs: number
}

const NONE: readonly Question[] = []

export class Belief {
  #expiresAtMs: number
  #end: End
  #underWay = NONE
  /** When the last answer came, and what time it was for the server. */
  #answeredAt = -Infinity
  #answeredMs = -Infinity

  constructor({ expiresAtMs, endsAt }: Grant) {
    this.#expiresAtMs = expiresAtMs
    this.#end = new End(endsAt)
  }

  /** By the server's clock. */
  get expiresAtMs(): number {
    return this.#expiresAtMs
  }

  /** By `performance.now()`, less all suspensions that were noticed since. */
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

  /** Looks for suspensions; never below 0. */
  get leftMs(): number {
    const { leftMs } = this.#end
    return this.#underWay === NONE ? leftMs : Math.max(0, this.endsAt - performance.now())
  }

  /** A question is neither answered nor given up. */
  get isAsked(): boolean {
    return this.#underWay !== NONE
  }

  ask(leaseMs: number): Question {
    const askedAt = askingAt()
    const question = { askedAt, leaseMs, end: new End(askedAt + leaseMs - ROUNDING_MS) }
    this.#underWay = [...this.#underWay, question]
    return question
  }

  answered(question: Question, { nowMs, expiresAtMs }: Extension): void {
    this.#drop(question)
    const end = endOf(question.askedAt, expiresAtMs - nowMs)
    // Of two that were under way at once the one counts that the server carried out last; where that is not clear, the
    // one that ends earlier.
    const beside = this.#answeredAt > question.askedAt
    const counts = nowMs > this.#answeredMs || (nowMs === this.#answeredMs && end.at < this.#end.at)
    if (beside && !counts) return
    this.#answeredAt = performance.now()
    this.#answeredMs = nowMs
    this.#set(end, expiresAtMs)
  }

  /** It was not carried out. */
  refused(question: Question): void {
    this.#drop(question)
  }

  /** It may have been carried out. */
  unanswered(question: Question): void {
    this.#drop(question)
    const earlierBy = this.#end.at - question.end.at
    if (earlierBy > 0) this.#set(question.end, Math.floor(this.#expiresAtMs - earlierBy))
  }

  #set(end: End, expiresAtMs: number): void {
    this.#end = end
    this.#expiresAtMs = expiresAtMs
  }

  #drop(question: Question): void {
    const left = this.#underWay.filter((each) => each !== question)
    this.#underWay = left.length === 0 ? NONE : left
  }
}
