// Polls parts one after the other, in rotation. A part that does not answer soon is left pending, and the next one is
// asked, because leases that other parts have given are running in the meantime. A silent part comes last until it has
// answered. All parts share one deadline, which restarts with each answer: an unreachable server is not waited for once
// per part.

import { within } from './in-time.ts'
import { isOutage } from '../errors/outage.ts'

/**
 * How long a server is waited for where its caller can go on without it: a silent part while others might answer, for
 * example; a fraction of the deadline when that is short.
 */
export const PATIENCE_MS = 500
const PATIENCES_A_DEADLINE = 4
/** Once one part is silent, others on its node are too: the patience with them is divided by this. */
const LATER_PATIENCES = 5
/** When to ask again at the latest after some parts were silent: their recovery is not notified. */
export const SILENT_RECHECK_MS = 1000

export interface AskingInTurn<Part, Answer> {
  /** The answer settles by `by`. Null: the part need not be asked, or not any more. */
  ask(part: Part, by: number): Promise<Answer> | null
  take(answer: Answer): void | Promise<void>
  /** Gives back an answer that arrives too late. */
  giveBack(late: Answer): Promise<unknown>
  /** Whether there is enough, so that silent parts need not be waited for. */
  hasEnough(): boolean
  /**
   * True for a caller that polls again soon. It waits for no silent part once another part has answered with any
   * result, and continues during an outage. A part that has answered late is waited for as long the next time;
   * otherwise its items would never be taken.
   */
  readonly comesAgain?: boolean
}

export interface AskedAll {
  /** The errors of failed parts. */
  readonly failures: readonly unknown[]
  /** False when some parts were left out because they were silent or unreachable. */
  readonly isWhole: boolean
}

interface Round {
  /** The latest time at which everything asked settles. */
  by: number
  isOver: boolean
  hasAnswer: boolean
  readonly failures: unknown[]
}

export class InTurn<Part> {
  readonly #parts: readonly Part[]
  readonly #deadlineMs: number
  readonly #silent = new Set<Part>()
  /** The duration of each part's last answer. */
  readonly #tookMs = new Map<Part, number>()
  #turn: number

  constructor(parts: readonly Part[], deadlineMs: number) {
    this.#parts = parts
    this.#deadlineMs = deadlineMs
    this.#turn = Math.floor(Math.random() * parts.length)
  }

  /** All parts, silent ones last. */
  next(): Part[] {
    this.#turn = (this.#turn + 1) % this.#parts.length
    const all = [...this.#parts.slice(this.#turn), ...this.#parts.slice(0, this.#turn)]
    if (this.#silent.size === 0) return all
    const isSilent = (part: Part): boolean => this.#silent.has(part)
    return [...all.filter((part) => !isSilent(part)), ...all.filter(isSilent)]
  }

  /**
   * Resolves when all have answered, or there is enough; for a caller that polls again, also when the others are
   * silent.
   */
  async askAll<Answer>(parts: readonly Part[], asking: AskingInTurn<Part, Answer>): Promise<AskedAll> {
    const round: Round = { by: this.#newDeadline(), isOver: false, hasAnswer: false, failures: [] }
    const underWay = new Set<Promise<void>>()
    const isBesideOthers = (): boolean => asking.comesAgain === true && round.hasAnswer
    let isWhole = true
    const firstPatienceMs = Math.min(PATIENCE_MS, this.#deadlineMs / PATIENCES_A_DEADLINE)
    let patienceMs = firstPatienceMs
    for (const part of parts) {
      if (!(await this.#hasTime(asking, round, underWay))) {
        isWhole = false
        break
      }
      const isSilent = this.#silent.has(part)
      const isLeft = isSilent && (asking.hasEnough() || isBesideOthers())
      if (isLeft) isWhole = false
      const answer = isLeft ? null : asking.ask(part, round.by)
      if (answer === null) continue
      const taking = this.#take(part, answer, asking, round)
      underWay.add(taking)
      void taking.then(() => underWay.delete(taking))
      // Silent parts are all asked at once.
      if (isSilent || (await isSoon(taking, patienceMs))) continue
      this.#silent.add(part)
      patienceMs = firstPatienceMs / LATER_PATIENCES
    }
    while (underWay.size > 0 && !asking.hasEnough()) {
      const next = Promise.race(underWay)
      if (!isBesideOthers()) await next
      // When all are slow, none is silent.
      else if (!(await isSoon(next, PATIENCE_MS + Math.max(0, ...this.#tookMs.values())))) break
    }
    round.isOver = true
    const failures = isBesideOthers() ? round.failures.filter((error) => !isOutage(error)) : round.failures
    return { failures, isWhole: isWhole && underWay.size + round.failures.length === 0 }
  }

  /**
   * Whether there is time to ask another part. Only silence uses time up: a stalled process has answers to read first.
   */
  async #hasTime<Answer>(
    asking: AskingInTurn<Part, Answer>,
    round: Round,
    underWay: ReadonlySet<Promise<void>>,
  ): Promise<boolean> {
    if (performance.now() < round.by) return true
    if (asking.hasEnough()) return false
    await Promise.all(underWay)
    if (round.failures.length === 0) round.by = this.#newDeadline()
    return performance.now() < round.by
  }

  #newDeadline(): number {
    return performance.now() + this.#deadlineMs
  }

  /** Never rejects. */
  async #take<Answer>(
    part: Part,
    answer: Promise<Answer>,
    asking: AskingInTurn<Part, Answer>,
    round: Round,
  ): Promise<void> {
    const askedAt = performance.now()
    try {
      const received = await answer
      round.hasAnswer = true
      this.#tookMs.set(part, performance.now() - askedAt)
      await (round.isOver ? asking.giveBack(received) : asking.take(received))
      round.by = this.#newDeadline()
    } catch (error) {
      this.#tookMs.delete(part)
      if (!round.isOver) round.failures.push(error)
    }
    this.#silent.delete(part)
  }
}

/** Whether it has settled, with any result, before `ms` have passed. */
export function isSoon(work: Promise<unknown>, ms: number = PATIENCE_MS): Promise<boolean> {
  const ended = work.then(
    () => true,
    () => true,
  )
  return within(ended, ms).catch(() => false)
}
