import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { forkProgram } from '../programs/fork.ts'

const PROGRAM = new URL('lock-holder.ts', import.meta.url)

interface Order {
  port: number
  name: string
  lease?: string
  waiters?: number
  cluster?: boolean
  reads?: boolean
  barging?: boolean
  group?: string
}

/** A process that holds a lock or waits for it; it ends with the test. */
export class LockProcess {
  readonly #child: ChildProcess
  readonly #words: Record<string, unknown> = {}

  constructor({ lease = '30s', waiters = 0, ...order }: Order) {
    this.#child = forkProgram(PROGRAM, [JSON.stringify({ lease, waiters, ...order })], { stdio: 'inherit' })
    this.#child.on('message', (word) => Object.assign(this.#words, word))
    onTestFinished(() => this.kill())
  }

  /** The answer under this name, once it has arrived. */
  async says(name: string): Promise<unknown> {
    while (!(name in this.#words)) await once(this.#child, 'message')
    return this.#words[name]
  }

  get hasSaid(): readonly string[] {
    return Object.keys(this.#words)
  }

  /** Lets a holder stall for so long, then look. */
  stall(ms: number): void {
    this.#child.send(ms)
  }

  stop(): void {
    this.#child.kill('SIGSTOP')
  }

  goOn(): void {
    this.#child.kill('SIGCONT')
  }

  /** kill -9. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exit = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await exit
  }
}
