// The directory of private engines: one service at a time owns it, and notes there what it runs.
import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { EngineError, type EngineOptions } from './engine.ts'
import { DirectoryLock } from './os-lock.ts'

/** The server that was started last: a process or a container. It may have ended. */
export interface HomeNote {
  readonly port: number
  readonly pid?: number
  readonly container?: string
}

interface Owner {
  readonly pid: number
  /** Present once it listens. */
  readonly url?: string
}

export interface Home {
  /** The directory of the files, as the server itself names it. */
  readonly data: string
  readonly log: string
  /** The lock on the data: held as long as a server runs on it. */
  readonly lock: DirectoryLock
  /** The server that was started last, unless it was shut down in order. */
  noted(): HomeNote | undefined
  /** Throws `EngineError` when nothing can be written. */
  note(server: HomeNote): void
  /** For notes that only help people. */
  noteIfPossible(server: HomeNote): void
  /** To be called after a shutdown in order. */
  forget(): void
  /** Records the URL for other services started here. */
  serves(url: string): void
  release(): void
}

/** A service that was just stopped may need a moment. */
const TRIES = 10
const PAUSE_MS = 100

/** Throws `EngineError` if another service has the directory. */
export async function openHome({ directory, env }: EngineOptions): Promise<Home> {
  const root = resolve(directory)
  const data = makeDirectories(root)
  const owned = new DirectoryLock(root, env['PATH'])
  const [server, owner] = [join(root, 'redis.json'), join(root, 'service.json')]
  for (let tries = 1; !(await owned.take()); tries++) {
    if (tries === TRIES) throw new EngineError(alreadyRuns(read<Owner>(owner)))
    await sleep(PAUSE_MS)
  }
  const lock = new DirectoryLock(data, env['PATH'])
  attempt(() => write(owner, { pid: process.pid }))
  return {
    data,
    log: join(root, 'redis.log'),
    lock,
    noted: () => read<HomeNote>(server),
    note: (running) => write(server, running),
    noteIfPossible: (running) => attempt(() => write(server, running)),
    forget: () => rmSync(server, { force: true }),
    serves: (url) => attempt(() => write(owner, { pid: process.pid, url })),
    release: () => {
      rmSync(owner, { force: true })
      lock.release()
      owned.release()
    },
  }
}

function makeDirectories(root: string): string {
  try {
    mkdirSync(join(root, 'redis'), { recursive: true, mode: 0o700 })
    return realpathSync(join(root, 'redis'))
  } catch (error) {
    throw unwritable(root, error)
  }
}

function alreadyRuns(owner: Owner | undefined): string {
  const who = owner === undefined ? '' : ` (process ${owner.pid}, ${owner.url ?? 'which is starting'})`
  return `another perilune service${who} is already running on this data directory: stop it, or set PERILUNE_DATA to another one`
}

function read<Value>(file: string): Value | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Value
  } catch {
    return undefined // never written
  }
}

/** Atomic: written as a whole, or not at all. */
function write(file: string, value: HomeNote | Owner): void {
  try {
    writeFileSync(`${file}.new`, JSON.stringify(value))
    renameSync(`${file}.new`, file)
  } catch (error) {
    throw unwritable(file, error)
  }
}

/** Notes that only help people must not stop a service when the disk is full. */
function attempt(work: () => void): void {
  try {
    work()
  } catch {
    // Another start then reports what it knows.
  }
}

export function unwritable(file: string, error: unknown): EngineError {
  return new EngineError(`cannot write to ${file}: ${whyUnwritable(error)}`, { cause: error })
}

function whyUnwritable(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
  return code === 'ENOSPC' || code === 'EDQUOT' ? `its disk is full (${code})` : code
}

/** Why this file cannot be written, or null if it can. Removes it. */
export function obstacleToWriting(file: string): string | null {
  try {
    writeFileSync(file, Buffer.alloc(4096))
    return null
  } catch (error) {
    return whyUnwritable(error)
  } finally {
    rmSync(file, { force: true })
  }
}
