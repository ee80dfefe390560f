// Real servers for tests: on a free loopback port, in a temporary directory that is removed with the test run.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { mendAppendOnly } from '../../server/engine/append-only.ts'
import { guardAgainstOurEnd, noLongerGuard } from './guard.ts'
import { freePort } from './ports.ts'

export interface RedisOptions {
  /** More options of redis-server: `['--maxmemory', '4mb']`. */
  args?: readonly string[]
  /** The initial content of its configuration file. */
  config?: string
  /** The folder of its files; kept when it stops. Without it: a temporary directory. */
  dir?: string
  /** Keeps an append-only file with this fsync policy. Without it nothing is kept. */
  aof?: 'always' | 'everysec' | 'no'
  port?: number
  /** As a node of a cluster, with a free port for its bus. */
  cluster?: boolean
  /** More of what its environment says. */
  env?: Readonly<Record<string, string>>
}

export interface RedisServer {
  readonly port: number
  readonly url: string
  /** Of the present process; changes with `restart`. */
  readonly pid: number
  readonly dir: string
  /** Shuts down in good order and removes the temporary directory. */
  stop(): Promise<void>
  /** kill -9. The files stay, for `restart`. */
  kill(): Promise<void>
  /** Starts it again on the same port and files, after a shutdown in good order if it still runs. */
  restart(): Promise<void>
}

/** Starts a server and resolves once it answers. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  for (let attempt = 1; ; attempt++) {
    const server = new Server(options, options.port ?? (await freePort()), await freePort())
    try {
      await server.start()
      return server
    } catch (error) {
      await server.stop()
      // Someone else may have taken a free port in the meantime.
      const another = options.port === undefined && String(error).includes('Address already in use')
      if (!another || attempt === 5) throw error
    }
  }
}

class Server implements RedisServer {
  readonly port: number
  readonly dir: string
  readonly #options: RedisOptions
  readonly #busPort: number
  #process: ChildProcess | undefined

  constructor(options: RedisOptions, port: number, busPort: number) {
    this.#options = options
    this.port = port
    this.#busPort = busPort
    this.dir = options.dir ?? temporaryDirectory()
    // A configuration file, if an empty one, lets CONFIG REWRITE work, which Sentinel needs.
    const file = join(this.dir, 'redis.conf')
    if (!existsSync(file)) writeFileSync(file, options.config ?? '')
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  get pid(): number {
    if (this.#process?.pid === undefined) throw new Error(`the server on port ${this.port} does not run`)
    return this.#process.pid
  }

  async start(): Promise<void> {
    const started = spawn(serverCommand(), ['redis.conf', ...this.#arguments()], {
      cwd: this.dir,
      stdio: 'ignore',
      env: { ...process.env, ...this.#options.env },
    })
    started.unref()
    await once(started, 'spawn')
    this.#process = started
    guardAgainstOurEnd('server', this.pid)
    while (!(await answers(this.port, this.pid))) {
      if (hasEnded(started)) throw new Error(`redis-server did not start: ${this.#lastLogLines()}`)
      await sleep(5)
    }
  }

  async stop(): Promise<void> {
    await this.#shutDown()
    if (this.#options.dir !== undefined) return
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 5 })
    noLongerGuard('directory', this.dir)
  }

  kill(): Promise<void> {
    return this.#end('SIGKILL')
  }

  async restart(): Promise<void> {
    await this.#shutDown()
    // As docs/operations.md advises.
    const mender = serverCommand().replace('-server', '-check-aof')
    if (this.#options.aof !== undefined && !(await mendAppendOnly(this.dir, mender))) {
      throw new Error(`${mender} could not mend what is in ${this.dir}`)
    }
    await this.start()
  }

  async #shutDown(): Promise<void> {
    const impatience = setTimeout(() => this.#process?.kill('SIGKILL'), 2000)
    await this.#end('SIGTERM')
    clearTimeout(impatience)
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
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

  #arguments(): string[] {
    const { aof, cluster, args = [] } = this.#options
    const durability =
      aof === undefined ? ['--appendonly', 'no'] : ['--appendonly', 'yes', '--appendfsync', aof]
    const place = [
      '--port',
      String(this.port),
      '--bind',
      '127.0.0.1',
      '--dir',
      this.dir,
      '--logfile',
      'redis.log',
    ]
    const bus = cluster ? ['--cluster-enabled', 'yes', '--cluster-port', String(this.#busPort)] : []
    // A new replica gets its data at once; by default the primary waits five seconds for more of them.
    return [...place, '--save', '', '--repl-diskless-sync-delay', '0', ...durability, ...bus, ...args]
  }

  #lastLogLines(): string {
    const file = join(this.dir, 'redis.log')
    return existsSync(file) ? readFileSync(file, 'utf8').slice(-1000) : 'it wrote no log'
  }
}

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'perilune-redis-'))
  guardAgainstOurEnd('directory', directory)
  return directory
}

function serverCommand(): string {
  const directories = (process.env['PATH'] ?? '').split(':')
  const found = ['redis-server', 'valkey-server'].find((name) =>
    directories.some((directory) => existsSync(join(directory, name))),
  )
  if (found === undefined) throw new Error('the tests need redis-server or valkey-server on PATH')
  return found
}

function hasEnded(process: ChildProcess): boolean {
  return process.exitCode !== null || process.signalCode !== null
}

// Another program that has the port since may answer, or never: the bus of a cluster waits for more.
const ANSWER_MS = 500

/** Whether this process answers, if it may say who it is, and has loaded its data. */
function answers(port: number, pid: number): Promise<boolean> {
  return new Promise((resolve) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\nINFO server\r\n'))
    const end = (isIt: boolean): void => {
      resolve(isIt)
      socket.destroy()
    }
    socket.setTimeout(ANSWER_MS, () => end(false))
    socket.on('data', (data) => {
      text += data.toString()
      const [, who] = /process_id:(\d+)\r/.exec(text) ?? []
      if (text.startsWith('-LOADING')) end(false)
      else if (/^-(NOAUTH|NOPERM)/m.test(text)) end(true)
      else if (who !== undefined) end(Number(who) === pid)
    })
    socket.once('error', () => end(false))
    socket.once('close', () => end(false))
  })
}
