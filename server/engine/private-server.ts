// The redis-server of this service: started or adopted, watched, restarted when it ends, and never more than one.
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
/** A server that ran for this long is restarted as soon as the first time. */
const STEADY_MS = 30_000
const PORTS = 5

export class PrivateServer {
  readonly #executable: string
  readonly #home: Home
  readonly #options: EngineOptions
  readonly #stopping = new AbortController()
  #port = 0
  /** The process that has not ended yet. */
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

  /** Why it does not serve at the moment, in words for the public; null if it should serve. */
  get obstacle(): string | null {
    return this.#obstacle
  }

  /**
   * Resolves when it serves. Throws `EngineError` if it cannot, or if a server left by a killed service has the data.
   */
  async begin(): Promise<void> {
    process.once('exit', this.#atExit)
    const { say, patienceMs = PATIENCE_MS } = this.#options
    const left = await findLeft(this.#home, patienceMs, say)
    if (left === null) {
      await this.#startOnFreePort()
    } else {
      this.#port = left.port
      const ended = endOfLeft(left, this.#home.lock).then(() => 'its service had been killed')
      this.#has({ pid: left.pid, ended })
      await this.#untilLoaded()
    }
    this.#watching = this.#watch()
    if (left !== null) say('taking over the redis-server of a service that was killed')
  }

  /** Ends the server, and any restart of it. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    if (this.#process !== null) {
      await this.#end(this.#process)
      this.#home.forget()
    }
    await this.#watching
    process.off('exit', this.#atExit)
  }

  /** For a process that ends without stopping it: a server without a service must not keep running. */
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
        // Another process may have taken the port in the meantime.
        if (attempt === PORTS || !/Failed listening|Address already in use/.test(String(error))) throw error
      }
    }
  }

  /** Leaves nothing running when it fails, so that another start can never run next to it. */
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
      this.#obstacle = 'the private Redis has ended, and is being restarted'
      this.#options.say(`the private redis-server has ended (${how}): restarting it`)
      if (performance.now() - began > STEADY_MS) this.#pauseMs = FIRST_PAUSE_MS
    }
  }

  /** Resolves when it serves again; to null if it is not wanted any more. */
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

  /** Null if it serves, otherwise the reason for the operator. */
  async #tryAgain(): Promise<string | null> {
    const { data, lock } = this.#home
    const unwritable = obstacleToWriting(`${data}/.room`)
    if (unwritable !== null) {
      this.#obstacle = `the private Redis has ended, and cannot write to its files: ${unwritable}`
      return `it cannot write to ${data}: ${unwritable}`
    }
    // A child of the last server, such as one that rewrites its file, may have outlived it.
    if (!(await lock.take())) return `a child process of the last server still has ${data}`
    this.#obstacle = 'the private Redis has ended, and is being restarted'
    await this.#start()
    this.#obstacle = null
    this.#options.say('redis-server runs again')
    return null
  }
}

/** It ended between serving and the check. */
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
