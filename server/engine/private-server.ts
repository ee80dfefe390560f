// The redis-server of this service: started or adopted, watched, started again when it ends, never a second one beside it.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Process, startChild } from './child.ts'
import { connectTo } from './connection.ts'
import { EngineError, type EngineOptions } from './engine.ts'
import { freePort } from './free-port.ts'
import { type Home, obstacleToWriting } from './home.ts'
import { endOfLeft, findLeft } from './left.ts'

const PATIENCE_MS = 30_000
const STOP_MS = 10_000
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 10_000
/** What has served for so long is started again as soon as the first time. */
const STEADY_MS = 30_000
const PORTS = 5

export class PrivateServer {
  readonly #executable: string
  readonly #home: Home
  readonly #options: EngineOptions
  readonly #stopping = new AbortController()
  #port = 0
  /** What has not ended yet. */
  #process: Process | null = null
  #obstacle: string | null = null
  #watching: Promise<void> | undefined
  #pauseMs = FIRST_PAUSE_MS

  constructor(executable: string, home: Home, options: EngineOptions) {
    this.#executable = executable
    this.#home = home
    this.#options = options
  }

  get port(): number {
    return this.#port
  }

  /** Why it does not serve at the moment, for anybody to read; null when it should. */
  get obstacle(): string | null {
    return this.#obstacle
  }

  /** Resolves when it serves. Throws `EngineError` when it cannot, or when what a killed service left has the data. */
  async begin(): Promise<void> {
    process.once('exit', this.#atExit)
    const { say, patienceMs = PATIENCE_MS } = this.#options
    const left = await findLeft(this.#home, patienceMs, say)
    if (left === null) {
      await this.#startOnFreePort()
    } else {
      this.#port = left.port
      const ended = endOfLeft(left, this.#home.lock).then(() => 'its service had been killed before')
      this.#has({ pid: left.pid, ended })
      await this.#untilLoaded()
    }
    this.#watching = this.#watch()
    if (left !== null) say('taking over the redis-server of a service that was killed')
  }

  /** Ends it, and whatever is about to follow it. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    if (this.#process !== null) {
      await this.#end(this.#process)
      this.#home.forget()
    }
    await this.#watching
    process.off('exit', this.#atExit)
  }

  /** Where this process ends without having stopped it: what serves nobody shall not run. */
  readonly #atExit = (): void => {
    if (this.#process !== null) signal(this.#process, this.#isStopping ? 'SIGKILL' : 'SIGTERM')
  }

  get #isStopping(): boolean {
    return this.#stopping.signal.aborted
  }

  #has(running: Process): void {
    this.#process = running
    const ended = (): void => {
      if (this.#process === running) this.#process = null
    }
    void running.ended.then(ended, ended)
  }

  async #startOnFreePort(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      this.#port = await freePort()
      try {
        return await this.#start()
      } catch (error) {
        // Somebody else may have taken it in the meantime.
        if (attempt === PORTS || !/Failed listening|Address already in use/.test(String(error))) throw error
      }
    }
  }

  /** Leaves nothing running when it fails, so that nothing can be started beside it. */
  async #start(): Promise<void> {
    try {
      await startChild({
        executable: this.#executable,
        home: this.#home,
        options: this.#options,
        port: this.#port,
        began: (process) => this.#has(process),
        signal: this.#stopping.signal,
      })
    } catch (error) {
      if (this.#process !== null) await this.#end(this.#process)
      throw error
    }
  }

  async #untilLoaded(): Promise<void> {
    const client = await connectTo(`redis://127.0.0.1:${this.#port}`)
    client.disconnect()
  }

  async #end(running: Process): Promise<void> {
    signal(running, 'SIGTERM')
    const impatience = setTimeout(() => signal(running, 'SIGKILL'), STOP_MS)
    await running.ended
    clearTimeout(impatience)
  }

  async #watch(): Promise<void> {
    for (let running = this.#process; running !== null; running = await this.#startAgain()) {
      const began = performance.now()
      const how = await running.ended
      if (this.#isStopping) return
      this.#obstacle = 'the private Redis has ended, and is being started again'
      this.#options.say(`the private redis-server has ended (${how}): starting it again`)
      if (performance.now() - began > STEADY_MS) this.#pauseMs = FIRST_PAUSE_MS
    }
  }

  /** Resolves when it serves again; to null when it shall not any more. */
  async #startAgain(): Promise<Process | null> {
    for (let said = ''; ; ) {
      await sleep(this.#pauseMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined)
      this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS)
      if (this.#isStopping) return null
      const reason = await this.#tryAgain().catch((error: unknown) => reasonOf(error))
      if (reason === null) return this.#process ?? ENDED_AGAIN
      if (!this.#isStopping && reason !== said)
        this.#options.say(`redis-server cannot run again yet: ${reason}`)
      said = reason
    }
  }

  /** Null when it serves, else for the operator why not. */
  async #tryAgain(): Promise<string | null> {
    const { data, lock } = this.#home
    const unwritable = obstacleToWriting(`${data}/.room`)
    if (unwritable !== null) {
      this.#obstacle = `the private Redis has ended, and cannot write to its files: ${unwritable}`
      return `it cannot write to ${data}: ${unwritable}`
    }
    // A process that the last one had started, as to rewrite its file, may have outlived it.
    if (!(await lock.take())) return `what has ended left a process that still has ${data}`
    this.#obstacle = 'the private Redis has ended, and is being started again'
    await this.#start()
    this.#obstacle = null
    this.#options.say('redis-server runs again')
    return null
  }
}

/** It ended between serving and being looked at. */
const ENDED_AGAIN: Process = { pid: 0, ended: Promise.resolve('at once') }

function reasonOf(error: unknown): string {
  return error instanceof EngineError ? error.message : String(error)
}

function signal({ pid }: Process, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended by itself.
  }
}
