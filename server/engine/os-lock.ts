// An exclusive lock on a directory that the operating system holds for whoever has one opening of it: for us, for processes
// that inherit it, and until the last of them has ended, however that came about. Nothing of it lies in the directory, so
// nothing is left behind there, and nothing can be deleted to break it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync } from 'node:fs'
import { EngineError } from './engine.ts'
import { findExecutable } from './executable.ts'

/** Node.js cannot lock. Here opening can: O_EXLOCK. */
const OPENS_LOCKED: Partial<Record<NodeJS.Platform, number>> = { darwin: 0x20, freebsd: 0x20, openbsd: 0x20 }

/** And elsewhere this program can lock what it inherits. */
const PROGRAM = 'flock'
const HELD_BY_OTHERS = 1

export class DirectoryLock {
  readonly #directory: string
  readonly #program: string | null
  #descriptor: number | null = null

  constructor(directory: string, path: string | undefined, program: string | null = programOn(path)) {
    this.#directory = directory
    this.#program = program
  }

  /** For a child process to inherit: the lock is held until that has ended, too. */
  get descriptor(): number {
    if (this.#descriptor === null) throw new Error(`the lock on ${this.#directory} is not held`)
    return this.#descriptor
  }

  /** False when others hold it. True at once when it is held already. */
  async take(): Promise<boolean> {
    if (this.#descriptor !== null) return true
    const opensLocked = OPENS_LOCKED[process.platform]
    this.#descriptor = await (opensLocked === undefined
      ? this.#openThenLock()
      : this.#openLocked(opensLocked))
    return this.#descriptor !== null
  }

  /** Processes that have inherited it hold it on. */
  release(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor)
    this.#descriptor = null
  }

  async #openLocked(flag: number): Promise<number | null> {
    try {
      return openSync(this.#directory, constants.O_RDONLY | constants.O_NONBLOCK | flag)
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return null
      throw this.#impossible(String(error))
    }
  }

  async #openThenLock(): Promise<number | null> {
    const descriptor = openSync(this.#directory, constants.O_RDONLY)
    try {
      if (await this.#lock(descriptor)) return descriptor
    } catch (error) {
      closeSync(descriptor)
      throw error
    }
    closeSync(descriptor)
    return null
  }

  async #lock(descriptor: number): Promise<boolean> {
    if (this.#program === null)
      throw this.#impossible(`there is no ${PROGRAM} on PATH (it is part of util-linux and of BusyBox)`)
    const locking = spawn(this.#program, ['-n', '3'], { stdio: ['ignore', 'ignore', 'pipe', descriptor] })
    let said = ''
    locking.stderr?.on('data', (data) => (said += String(data)))
    const [code, signal] = await once(locking, 'close')
    if (code === 0) return true
    // BusyBox says so of every failure, but then it says why.
    if (code === HELD_BY_OTHERS && said === '') return false
    throw this.#impossible(said.trim() || `${PROGRAM} ended with ${code ?? signal}`)
  }

  #impossible(why: string): EngineError {
    return new EngineError(
      `cannot lock the data directory ${this.#directory}: ${why}; set PERILUNE_DATA to a directory on a local disk, or set REDIS_URL`,
    )
  }
}

/** A service may have a short PATH. */
function programOn(path: string | undefined): string | null {
  return findExecutable([PROGRAM], `${path ?? ''}:/usr/bin:/bin`) ?? null
}
