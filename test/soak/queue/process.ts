// A process of a soak of the queue, as the one that started it sees it.

import type { ChildProcess } from 'node:child_process'
import { forkProgram } from '../../programs/fork.ts'
import type { PartyOrder } from './order.ts'

const PARTY = new URL('party.ts', import.meta.url)

export class PartyProcess {
  readonly by: string
  readonly ended: Promise<void>
  readonly #child: ChildProcess
  readonly #words = new Set<unknown>()
  #paused = false
  #killed = false

  constructor(order: PartyOrder) {
    this.by = order.by
    this.#child = forkProgram(PARTY, [JSON.stringify(order)], { stdio: 'inherit' })
    this.#child.on('message', (word) => this.#words.add(word))
    // A word to one that has just been killed fails.
    this.#child.on('error', () => undefined)
    this.ended = new Promise((resolve) => this.#child.once('exit', () => resolve()))
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  /** False where it was killed, by itself or by others. */
  get endedWell(): boolean {
    return this.#child.exitCode === 0
  }

  /** It was not killed by others. */
  get diedOfItself(): boolean {
    return this.hasEnded && !this.endedWell && !this.#killed
  }

  get isUp(): boolean {
    return this.#words.has('ready') && !this.hasEnded && !this.#paused
  }

  /** It has begun with a job. */
  get isAtWork(): boolean {
    return this.#words.has('at work') && this.isUp
  }

  /** It will enqueue nothing more. */
  get rests(): boolean {
    return this.#words.has('rested') || this.hasEnded
  }

  tell(word: 'rest' | 'close'): void {
    if (!this.hasEnded) this.#child.send(word)
  }

  /** kill -9. */
  kill(): void {
    this.#killed = true
    this.#child.kill('SIGKILL')
  }

  async pauseFor(ms: number): Promise<void> {
    this.#paused = true
    this.#child.kill('SIGSTOP')
    await new Promise((resolve) => setTimeout(resolve, ms))
    this.#child.kill('SIGCONT')
    this.#paused = false
  }
}
