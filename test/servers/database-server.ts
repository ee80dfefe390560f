// A SQL server for tests, like redis.ts for Redis: the common part of PostgreSQL and MariaDB.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { guardAgainstOurEnd, noLongerGuard } from './guard.ts'
import { freePort } from './ports.ts'

export interface DatabaseServer {
  readonly port: number
  /** Of the present process; changes with `restart`. */
  readonly pid: number
  readonly dir: string
  /** Shuts down in good order and removes the directory. */
  stop(): Promise<void>
  /** kill -9. The files stay, for `restart`. */
  kill(): Promise<void>
  /** Starts it again on the same port and files, after a shutdown in good order if it still runs. */
  restart(): Promise<void>
}

export type Command = readonly [program: string, ...args: string[]]

/** The differences between the servers. */
export interface Engine {
  readonly name: string
  /** Makes the files of a new server. */
  create(dir: string): Command
  serve(dir: string, port: number): Command
  /** The signal that makes it close connections and shut down cleanly. */
  readonly stopSignal: NodeJS.Signals
  /** Rejects until it takes work. */
  greet(port: number): Promise<void>
}

const UNPRIVILEGED = 65_534
const STARTS = 20

export async function startDatabase(engine: Engine): Promise<DatabaseServer> {
  const server = new Server(engine, await freePort())
  try {
    await server.create()
    await server.start()
    return server
  } catch (error) {
    await server.stop()
    throw error
  }
}

class Server implements DatabaseServer {
  readonly port: number
  readonly dir: string
  readonly #engine: Engine
  #process: ChildProcess | undefined

  constructor(engine: Engine, port: number) {
    this.#engine = engine
    this.port = port
    this.dir = mkdtempSync(join(tmpdir(), `perilune-${engine.name}-`))
    guardAgainstOurEnd('directory', this.dir)
    if (isRoot()) chownSync(this.dir, UNPRIVILEGED, UNPRIVILEGED)
  }

  get pid(): number {
    if (this.#process?.pid === undefined) throw new Error(`the server on port ${this.port} does not run`)
    return this.#process.pid
  }

  async create(): Promise<void> {
    const [code] = await once(this.#spawn(this.#engine.create(this.dir)), 'exit')
    if (code !== 0) throw this.#failure('could not make its files')
  }

  /** After kill -9, resources of the previous server may still exist for a moment. */
  async start(): Promise<void> {
    for (let tries = 1; !(await this.#starts()); tries++) {
      if (tries === STARTS) throw this.#failure('did not start')
      await sleep(100)
    }
  }

  async #starts(): Promise<boolean> {
    const started = this.#spawn(this.#engine.serve(this.dir, this.port))
    started.unref()
    await once(started, 'spawn')
    this.#process = started
    guardAgainstOurEnd('server', this.pid)
    while (!(await this.#answers())) {
      if (hasEnded(started)) {
        noLongerGuard('server', this.pid)
        return false
      }
      await sleep(20)
    }
    return true
  }

  async stop(): Promise<void> {
    await this.#shutDown()
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 10 })
    noLongerGuard('directory', this.dir)
  }

  kill(): Promise<void> {
    return this.#end('SIGKILL')
  }

  async restart(): Promise<void> {
    await this.#shutDown()
    await this.start()
  }

  async #shutDown(): Promise<void> {
    const impatience = setTimeout(() => this.#process?.kill('SIGKILL'), 10_000)
    await this.#end(this.#engine.stopSignal)
    clearTimeout(impatience)
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const running = this.#process
    if (running?.pid === undefined) return
    if (!hasEnded(running)) {
      running.ref() // or this process may end before it
      const exit = once(running, 'exit')
      running.kill(signal)
      running.kill('SIGCONT') // a test may have paused it
      await exit
    }
    noLongerGuard('server', running.pid)
    this.#process = undefined
  }

  /** Both refuse to run as root. */
  #spawn([program, ...args]: Command): ChildProcess {
    const log = openSync(join(this.dir, 'log'), 'a')
    const identity = isRoot() ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {}
    const started = spawn(program, args, { cwd: this.dir, stdio: ['ignore', log, log], ...identity })
    closeSync(log)
    return started
  }

  async #answers(): Promise<boolean> {
    try {
      await this.#engine.greet(this.port)
      return true
    } catch {
      return false
    }
  }

  #failure(what: string): Error {
    const log = readFileSync(join(this.dir, 'log'), 'utf8').slice(-1000)
    return new Error(`${this.#engine.name} ${what}: ${log}`)
  }
}

/** The path of a program, from PATH or from folders where packages put it. */
export function findProgram(name: string, folders: readonly string[]): string {
  const places = [...(process.env['PATH'] ?? '').split(delimiter), ...folders].map((folder) =>
    join(folder, name),
  )
  const found = places.find((file) => existsSync(file))
  if (found === undefined) throw new Error(`the tests need ${name}; npm test installs it`)
  return found
}

/** The folders in a folder; none if it is not there. */
export function foldersIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []
}

function isRoot(): boolean {
  return process.getuid?.() === 0
}

function hasEnded(process: ChildProcess): boolean {
  return process.exitCode !== null || process.signalCode !== null
}
