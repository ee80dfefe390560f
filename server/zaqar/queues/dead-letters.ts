// Moves dead letters in the background: for each queue one move at a time, and one after it, however many claims
// request it.

import { setTimeout as sleep } from 'node:timers/promises'
import { within } from '../../process/within.ts'

interface Moving {
  /** A move requested since the running one began, which may have read already. */
  next: (() => Promise<void>) | null
  readonly done: Promise<void>
}

/** Between two moves of one queue: claims are more frequent than new dead letters. */
const PAUSE_MS = 100

export class DeadLetters {
  readonly #moving = new Map<string, Moving>()
  readonly #end = new AbortController()
  readonly #onError: (error: unknown) => void

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError
  }

  /** A failed move is retried at the next claim. */
  move(queue: string, move: () => Promise<void>): void {
    if (this.#end.signal.aborted) return
    const known = this.#moving.get(queue)
    if (known !== undefined) known.next = move
    else this.#begin(queue, move)
  }

  /** Resolves when no move is running. */
  async settled(): Promise<void> {
    await Promise.all([...this.#moving.values()].map(({ done }) => done))
  }

  /**
   * Begins no more moves, and waits for the running ones within a limit; the remaining letters are moved after a later
   * claim.
   */
  async close(withinMs: number): Promise<void> {
    this.#end.abort()
    await within(withinMs, this.settled())
  }

  #begin(queue: string, first: () => Promise<void>): void {
    this.#moving.set(queue, { next: null, done: this.#moveAll(queue, first) })
  }

  async #moveAll(queue: string, first: () => Promise<void>): Promise<void> {
    const { signal } = this.#end
    let move: (() => Promise<void>) | null = first
    while (move !== null) {
      await move().catch((error: unknown) => {
        if (!signal.aborted) this.#onError(error)
      })
      move = this.#takeNext(queue)
      if (move !== null) await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) move = null
    }
    this.#moving.delete(queue)
  }

  #takeNext(queue: string): (() => Promise<void>) | null {
    const moving = this.#moving.get(queue)
    const next = moving?.next ?? null
    if (moving !== undefined) moving.next = null
    // In the same turn: a later request begins a move of its own.
    if (next === null) this.#moving.delete(queue)
    return next
  }
}
