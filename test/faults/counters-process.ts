// A process that counts or flushes, as seen by the test that started it.

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'
import { forkProgram } from '../programs/fork.ts'
import type { Scene } from './counters-scene.ts'
import type { Said, Command, WorkerOrder } from './counters-worker.ts'

const PROGRAM = new URL('counters-worker.ts', import.meta.url)

type Terms = Partial<Omit<WorkerOrder, 'address' | 'name'>> & { readonly sqlPort?: number }

export class CountersProcess {
  readonly #child: ChildProcess
  readonly #said: Said[] = []
  #wake: () => void = () => undefined

  constructor({ address, name, redisPort, books }: Scene, { sqlPort = address.port, ...terms }: Terms = {}) {
    const order: WorkerOrder = { redisPort, name, ...terms, address: { ...address, port: sqlPort } }
    this.#child = forkProgram(PROGRAM, [JSON.stringify(order)])
    this.#child.on('message', (said: Said) => {
      if ('counted' in said) for (const [n, outcome] of said.counted) books.tell(n, outcome)
      else this.#said.push(said)
      this.#wake()
    })
    this.#child.once('exit', () => this.#wake())
    onTestFinished(() => this.kill())
  }

  tell(command: Command): void {
    this.#child.send(command)
  }

  /** The next message of this kind; throws when the process ends before, or reports an error. */
  async says<Kind extends string>(kind: Kind): Promise<Extract<Said, Record<Kind, unknown>>> {
    for (;;) {
      const said = this.#said.shift()
      if (said === undefined) await this.#more()
      else if (kind in said) return said as Extract<Said, Record<Kind, unknown>>
      else if ('failed' in said) throw new Error(said.failed)
    }
  }

  /** Resolves once a flush that it was ordered to run has ended, however it ended. */
  async flushed(): Promise<void> {
    while (this.#said.shift() === undefined) await this.#more()
  }

  /** SIGSTOP. */
  pause(): void {
    this.#child.kill('SIGSTOP')
  }

  goOn(): void {
    this.#child.kill('SIGCONT')
  }

  /** kill -9. */
  async kill(): Promise<void> {
    if (this.#hasEnded) return
    const exit = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await exit
  }

  get #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  async #more(): Promise<void> {
    if (this.#hasEnded) throw new Error('the process has ended')
    await new Promise<void>((resolve) => (this.#wake = resolve))
  }
}

export async function startProcess(scene: Scene, terms?: Terms): Promise<CountersProcess> {
  const started = new CountersProcess(scene, terms)
  await started.says('ready')
  return started
}
