// Parts that are asked one after the other, each time beginning with another one. One that does not answer soon is left to itself,
// and the next one is asked: what others have given is held meanwhile by a lease that runs. Until it has answered it comes last.
// All have one deadline, which begins anew with each answer: a server that is away is not waited for once for each part.

import { within } from './in-time.ts'
import { isOutage } from '../errors/outage.ts'

/** How long one that does not answer is waited for while others might; where the deadline is short, a part of that. */
export const PATIENCE_MS = 500
const PATIENCES_A_DEADLINE = 4
/** Where one is silent, others on its node are, too: these are waited for as much less long. */
const LATER_PATIENCES = 5
/** When to ask again at the latest where some were silent: nobody tells that they answer again. */
export const SILENT_RECHECK_MS = 1000

export interface AskingInTurn<Part, Told> {
  /** Settles `by` then. Null: it need not be asked, or not any more. */
  ask(part: Part, by: number): Promise<Told> | null
  take(told: Told): void | Promise<void>
  /** For what is told when nobody waits for it any more. */
  giveBack(late: Told): Promise<unknown>
  /** Whether there is enough to wait for no silent one. */
  hasEnough(): boolean
  /**
   * Who asks again soon waits for no silent one where another part has answered, whatever that has told, and goes on beside an outage.
   * One that has answered late is waited for as long the next time: else nobody would ever take what it has.
   */
  readonly comesAgain?: boolean
}

export interface AskedAll {
  /** What went wrong. */
  readonly failures: readonly unknown[]
  /** False where some were left that were silent, or away. */
  readonly isWhole: boolean
}

interface Round {
  /** When all that is asked settles at the latest. */
  by: number
  isOver: boolean
  hasAnswer: boolean
  readonly failures: unknown[]
}

export class InTurn<Part> {
  readonly #parts: readonly Part[]
  readonly #deadlineMs: number
  readonly #silent = new Set<Part>()
  /** How long the last answer of each took. */
  readonly #tookMs = new Map<Part, number>()
  #turn: number

  constructor(parts: readonly Part[], deadlineMs: number) {
    this.#parts = parts
    this.#deadlineMs = deadlineMs
    this.#turn = Math.floor(Math.random() * parts.length)
  }

  /** All of them, those that are silent last. */
  next(): Part[] {
    this.#turn = (this.#turn + 1) % this.#parts.length
    const all = [...this.#parts.slice(this.#turn), ...this.#parts.slice(0, this.#turn)]
    if (this.#silent.size === 0) return all
    const isSilent = (part: Part): boolean => this.#silent.has(part)
    return [...all.filter((part) => !isSilent(part)), ...all.filter(isSilent)]
  }

  /** Resolves when all have answered, or there is enough; for one who comes again also when the others are silent. */
  async askAll<Told>(parts: readonly Part[], asking: AskingInTurn<Part, Told>): Promise<AskedAll> {
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
      // Those that are silent are asked at once.
      if (isSilent || (await isSoon(taking, patienceMs))) continue
      this.#silent.add(part)
      patienceMs = firstPatienceMs / LATER_PATIENCES
    }
    while (underWay.size > 0 && !asking.hasEnough()) {
      const next = Promise.race(underWay)
      if (!isBesideOthers()) await next
      // Where all are slow none is silent.
      else if (!(await isSoon(next, PATIENCE_MS + Math.max(0, ...this.#tookMs.values())))) break
    }
    round.isOver = true
    const failures = isBesideOthers() ? round.failures.filter((error) => !isOutage(error)) : round.failures
    return { failures, isWhole: isWhole && underWay.size + round.failures.length === 0 }
  }

  /** Whether there is time to ask another one. Silence alone uses it up: a process that stood still has answers to read first. */
  async #hasTime<Told>(
    asking: AskingInTurn<Part, Told>,
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
  async #take<Told>(
    part: Part,
    answer: Promise<Told>,
    asking: AskingInTurn<Part, Told>,
    round: Round,
  ): Promise<void> {
    const askedAt = performance.now()
    try {
      const told = await answer
      round.hasAnswer = true
      this.#tookMs.set(part, performance.now() - askedAt)
      await (round.isOver ? asking.giveBack(told) : asking.take(told))
      round.by = this.#newDeadline()
    } catch (error) {
      this.#tookMs.delete(part)
      if (!round.isOver) round.failures.push(error)
    }
    this.#silent.delete(part)
  }
}

/** Whether it has ended, well or not, before `ms` have passed. */
export function isSoon(work: Promise<unknown>, ms: number = PATIENCE_MS): Promise<boolean> {
  const ended = work.then(
    () => true,
    () => true,
  )
  return within(ended, ms).catch(() => false)
}
