// A process of a run, as the one that started it sees it.

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { forkProgram } from '../programs/fork.ts'
import type { Victim } from './faults/fault.ts'
import type { Order, Said, Command } from './worker.ts'

const PROGRAM = new URL('worker.ts', import.meta.url)
/** Generous for a busy machine; the checkers judge how late calls may be. */
const PATIENCE_MS = 180_000
const EXIT_MS = 20_000

const ANSWERS = { 'go-on': 'gone-on', finish: 'finished', look: 'looked' } as const

export class WorkerProcess implements Victim {
  readonly process: number
  /** The failures of the process. */
  readonly problems: string[] = []
  readonly #child: ChildProcess
  readonly #said = new Set<Said>()
  #failure: string | undefined

  constructor(order: Order) {
    this.process = order.process
    this.#child = forkProgram(PROGRAM, [JSON.stringify(order)], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    this.#child.on('message', (said: Said) => this.#hear(said))
  }

  async does(command: Command): Promise<void> {
    if (command === 'begin' || command === 'end') this.#child.send(command)
    if (command === 'begin') return
    if (command === 'end') return this.#ended()
    this.#said.delete(ANSWERS[command])
    this.#child.send(command)
    await this.says(ANSWERS[command])
  }

  async says(word: Extract<Said, string>): Promise<void> {
    const end = performance.now() + PATIENCE_MS
    while (!this.#said.has(word)) {
      if (this.#failure !== undefined) throw new Error(`process ${this.process} failed: ${this.#failure}`)
      if (this.#hasEnded) throw new Error(`process ${this.process} ended before it was ${word}`)
      if (performance.now() > end) throw new Error(`process ${this.process} was never ${word}`)
      await sleep(10)
    }
  }

  stop(): void {
    this.#child.kill('SIGSTOP')
  }

  goOn(): void {
    this.#child.kill('SIGCONT')
  }

  kill(): void {
    if (!this.#hasEnded) this.#child.kill('SIGKILL')
  }

  #hear(said: Said): void {
    if (typeof said === 'string') {
      this.#said.add(said)
      return
    }
    if ('failed' in said) {
      this.#failure = said.failed
      return
    }
    this.problems.push(`process ${this.process}: stands still: ${said.still.join(', ')}`)
    this.#said.add('gone-on')
  }

  async #ended(): Promise<void> {
    const exit = this.#hasEnded ? undefined : once(this.#child, 'exit')
    const late = await Promise.race([exit, sleep(EXIT_MS, 'late' as const, { ref: false })])
    if (late === 'late') this.problems.push(`process ${this.process}: does not end by itself`)
    else if (this.#child.exitCode !== 0)
      this.problems.push(`process ${this.process}: ended with ${this.#child.exitCode}`)
  }

  get #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }
}
