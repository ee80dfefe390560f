// Until when a process may believe in a lease. In doubt it is the earliest end that the server may have.
//
//   KNOWN ──ask──► ASKED: the earliest of the end that it had, and of those that it has should the server carry out what it was asked
//     ▲              │
//     ├── answered ──┤ the end that the server told, unless it carried out another one later
//     ├── refused ───┤ the end that it had
//     └─ unanswered ─┘ the earlier of both
//
// Several may be asked at once. What others asked for is noted without a question.

import { didNotHappen } from '../errors/outage.ts'
import { askingAt, End, endOf, ROUNDING_MS } from './grant.ts'

/** An extension that was asked for. */
export interface ExtensionQuestion {
  readonly askedAt: number
  readonly leaseMs: number
  /** When the lease ends at the earliest, should the server carry it out. */
  readonly end: End
}

/** What the server said to it, by its own clock. */
export interface ExtensionAnswer {
  readonly nowMs: number
  readonly expiresAtMs: number
}

const NONE: readonly ExtensionQuestion[] = []

export class Belief {
  #expiresAtMs: number
  #end: End
  #underWay = NONE
  /** When the last answer came, and what time it was for the server. Null for most, which are never extended: made for each, it costs. */
  #lastAnswer: { readonly at: number; readonly nowMs: number } | null = null

  /** Of extensions that failed, and may have been carried out: until when the lease lasts then, at the latest, by `performance.now()`. */
  #mayLastUntil = -Infinity

  /** `end` as this process believes, `expiresAtMs` as the server says. */
  constructor(end: End, expiresAtMs: number) {
    this.#end = end
    this.#expiresAtMs = expiresAtMs
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

  /** Until when the server may have it beyond what this process believes, by `performance.now()`; in the past: no longer than that. */
  get mayLastUntil(): number {
    const now = performance.now()
    const lengths = this.#underWay.map(({ leaseMs }) => now + leaseMs)
    return Math.max(this.#mayLastUntil, this.#end.latest, ...lengths)
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
   * It was extended until then. Of two that were under way at once the one counts that the server carried out last; where that is not
   * clear, the one that ends earlier.
   */
  note(end: End, { nowMs, expiresAtMs }: ExtensionAnswer): void {
    const last = this.#lastAnswer
    const isBeside = last !== null && last.at > end.askedAt
    if (isBeside && (nowMs < last.nowMs || (nowMs === last.nowMs && end.at >= this.#end.at))) return
    this.#lastAnswer = { at: performance.now(), nowMs }
    this.#mayLastUntil = -Infinity
    this.#set(end, expiresAtMs)
  }

  /** Without an answer that says until when: it may have been carried out nevertheless. */
  failed(question: ExtensionQuestion, error: unknown): void {
    this.over(question)
    if (didNotHappen(error)) return
    this.#mayLastUntil = Math.max(this.#mayLastUntil, performance.now() + question.leaseMs)
    const earlierBy = this.#end.at - question.end.at
    if (earlierBy <= 0) return
    this.#set(question.end, Math.floor(this.#expiresAtMs - earlierBy))
  }

  /** It is under way no more, and has changed nothing by itself. */
  over(question: ExtensionQuestion): void {
    const left = this.#underWay.filter((each) => each !== question)
    this.#underWay = left.length === 0 ? NONE : left
  }

  #set(end: End, expiresAtMs: number): void {
    this.#end = end
    this.#expiresAtMs = expiresAtMs
  }
}
