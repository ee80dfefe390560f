import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type Job, type Load, OPEN } from './job.ts'

/** The process that makes the load. */
export class Generator {
  readonly #process: ChildProcess

  constructor() {
    this.#process = fork(fileURLToPath(new URL('load.ts', import.meta.url)), {
      execArgv: ['--import', 'tsx'],
      serialization: 'advanced',
    })
  }

  /** Calls `onOpen` when the load begins. Rejects when the process ends before the job. */
  run(job: Job, onOpen: () => void = () => {}): Promise<Load> {
    return new Promise((resolve, reject) => {
      const child = this.#process
      const onExit = (code: number | null): void => {
        reject(new Error(`the load generator ended with code ${String(code)}`))
      }
      const onMessage = (message: Load | typeof OPEN): void => {
        if (message === OPEN) return onOpen()
        child.off('message', onMessage).off('exit', onExit)
        resolve(message)
      }
      child.on('message', onMessage).on('exit', onExit)
      child.send(job)
    })
  }

  close(): void {
    this.#process.kill()
  }
}
