import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Job, Load } from './load.ts'

/** The process that makes the load. */
export class Generator {
  readonly #process: ChildProcess

  constructor() {
    this.#process = fork(fileURLToPath(new URL('load.ts', import.meta.url)), {
      execArgv: ['--import', 'tsx'],
      serialization: 'advanced',
    })
  }

  /** Rejects when the process ends before the job. */
  async run(job: Job): Promise<Load> {
    const abort = new AbortController()
    const { signal } = abort
    const ended = once(this.#process, 'exit', { signal }).then(([code]) => {
      throw new Error(`the load generator ended with code ${String(code)}`)
    })
    this.#process.send(job)
    try {
      const [load] = await Promise.race([once(this.#process, 'message', { signal }), ended])
      return load as Load
    } finally {
      ended.catch(() => {})
      abort.abort()
    }
  }

  close(): void {
    this.#process.kill()
  }
}
