// An exclusive lock on a directory, held by the operating system for an open file description. This process and all
// processes that inherit it hold the lock, until the last of them has ended in any way. The lock is no file in the
// directory, so nothing stays there, and no deletion can break it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync } from 'node:fs'
import { EngineError } from './engine.ts'
import { findExecutable } from './executable.ts'

/** Node.js cannot lock files. On these systems opening can: O_EXLOCK. */
const OPENS_LOCKED: Partial<Record<NodeJS.Platform, number>> = { darwin: 0x20, freebsd: 0x20, openbsd: 0x20 }

/** On other systems this program locks an inherited descriptor. */
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

  /** For a child process to inherit: the lock is then held until the child has ended, too. */
  get descriptor(): number {
    if (this.#descriptor === null) throw new Error(`the lock on ${this.#directory} is not held`)
    return this.#descriptor
  }

  /** False if other processes hold it. True at once if it is already held. */
  async take(): Promise<boolean> {
    if (this.#descriptor !== null) return true
    const opensLocked = OPENS_LOCKED[process.platform]
    this.#descriptor = await (opensLocked === undefined
      ? this.#openThenLock()
      : this.#openLocked(opensLocked))
    return this.#descriptor !== null
  }

  /** Processes that have inherited it continue to hold it. */
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
    // BusyBox uses this code for every failure, but prints a reason for the others.
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
