// Parts that are asked one after the other, each time beginning with another one. One that does not answer soon is left to itself,
// and the next one is asked: what others have given is held meanwhile by a lease that runs. Until it has answered it comes last.

import { within } from './in-time.ts'

/** How long one that does not answer is waited for while others might. */
export const PATIENCE_MS = 500
/** Where one is silent, others on its node are, too. */
const LATER_PATIENCE_MS = 100

export interface Asking<Part, Told> {
  /** Null: it need not be asked, or not any more. */
  ask(part: Part): Promise<Told> | null
  take(told: Told): void | Promise<void>
  fail(error: unknown): void
  /** For what is told when nobody waits for it any more. */
  giveBack(late: Told): Promise<unknown>
  /** Whether there is enough to wait for no silent one. */
  hasEnough(): boolean
}

export class InTurn<Part> {
  readonly #parts: readonly Part[]
  readonly #silent = new Set<Part>()
  #turn: number

  constructor(parts: readonly Part[]) {
    this.#parts = parts
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

  /** Resolves when all have answered, or there is enough. */
  async askAll<Told>(parts: readonly Part[], asking: Asking<Part, Told>): Promise<void> {
    const round = { isOver: false }
    const underWay = new Set<Promise<void>>()
    let patienceMs = PATIENCE_MS
    for (const part of parts) {
      const isSilent = this.#silent.has(part)
      const answer = isSilent && asking.hasEnough() ? null : asking.ask(part)
      if (answer === null) continue
      const taking = this.#take(part, answer, asking, round)
      underWay.add(taking)
      void taking.then(() => underWay.delete(taking))
      // Those that are silent are asked at once.
      if (isSilent || (await isSoon(taking, patienceMs))) continue
      this.#silent.add(part)
      patienceMs = LATER_PATIENCE_MS
    }
    while (underWay.size > 0 && !asking.hasEnough()) await Promise.race(underWay)
    round.isOver = true
  }

  /** Never rejects. */
  async #take<Told>(
    part: Part,
    answer: Promise<Told>,
    asking: Asking<Part, Told>,
    round: { readonly isOver: boolean },
  ): Promise<void> {
    try {
      const told = await answer
      await (round.isOver ? asking.giveBack(told) : asking.take(told))
    } catch (error) {
      if (!round.isOver) asking.fail(error)
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
