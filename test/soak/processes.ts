// The processes of a soak, as the one that started them sees them.

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { forkProgram } from '../programs/fork.ts'
import type { Share } from './work.ts'

export type People = Pick<Share, 'producers' | 'observers' | 'consumers'>

const WORKER = new URL('feed-worker.ts', import.meta.url)

export class SoakProcess {
  readonly at: number
  readonly people: People
  /** The file with its history. */
  readonly history: string
  readonly #child: ChildProcess
  readonly #words = new Set<unknown>()

  constructor(share: Share, at: number, history: string) {
    const { producers, observers, consumers } = share
    this.at = at
    this.people = { producers, observers, consumers }
    this.history = history
    this.#child = forkProgram(WORKER, [JSON.stringify({ share, history })], { stdio: 'inherit' })
    this.#child.on('message', (word) => this.#words.add(word))
  }

  async heard(word: 'ready' | 'produced'): Promise<void> {
    while (!this.#words.has(word)) {
      if (this.#hasEnded) throw new Error(`a process of the soak ended before it was ${word}`)
      await Promise.race([once(this.#child, 'message'), once(this.#child, 'exit')])
    }
  }

  tell(word: 'begin' | 'finish'): void {
    this.#child.send(word)
  }

  async ended(): Promise<void> {
    if (!this.#hasEnded) await once(this.#child, 'exit')
    if (this.#child.exitCode !== 0)
      throw new Error(`a process of the soak ended with ${this.#child.exitCode}`)
  }

  /** kill -9. */
  kill(): void {
    this.#child.kill('SIGKILL')
  }

  get #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }
}
