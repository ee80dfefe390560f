// `npm start` as a process of its own, on a directory that it may share with another one.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { guardAgainstOurEnd, noLongerGuard } from '../servers/guard.ts'

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url))

export class NpmStart {
  readonly #npm: ChildProcess
  /** Resolves when npm, the service and whatever else writes to their output have ended. */
  readonly ended: Promise<unknown>
  hasEnded = false
  #out = ''
  #err = ''

  constructor(data: string) {
    const { REDIS_URL: _, ...env } = process.env
    const settings = { NODE_ENV: '', PORT: '0', LOG_LEVEL: 'fatal', PERILUNE_FSYNC: 'always' }
    this.#npm = spawn('npm', ['start'], {
      cwd: REPOSITORY,
      env: { ...env, ...settings, PERILUNE_DATA: data },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true, // a group of its own, for `killAll`
    })
    guardAgainstOurEnd('server', this.pid)
    this.#npm.stdout?.on('data', (chunk) => (this.#out += String(chunk)))
    this.#npm.stderr?.on('data', (chunk) => (this.#err += String(chunk)))
    this.ended = this.#untilEnded()
  }

  /** Of npm. */
  get pid(): number {
    return this.#npm.pid ?? 0
  }

  get code(): number | null {
    return this.#npm.exitCode
  }

  /** The URL of the service, once it runs and as long as it does. */
  get url(): string | undefined {
    return this.hasEnded ? undefined : /listens on (http:\S+)/.exec(this.#out)?.[1]
  }

  get isRefused(): boolean {
    return this.#err.includes('another perilune service')
  }

  get errors(): string {
    return this.#err
  }

  /** One of npm's children becomes the service. */
  get service(): number | undefined {
    return childrenOf(this.pid)[0]
  }

  /** Npm and the service, but not its server. */
  killAll(): void {
    kill(-this.pid)
  }

  async #untilEnded(): Promise<void> {
    await once(this.#npm, 'close')
    this.hasEnded = true
    noLongerGuard('server', this.pid)
  }
}

function childrenOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    return text.split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

/** Whether there was one to kill. */
export function kill(pid: number | undefined, signal: NodeJS.Signals = 'SIGKILL'): boolean {
  try {
    return pid !== undefined && pid !== 0 && process.kill(pid, signal)
  } catch {
    return false // it has ended
  }
}

/** The pids of redis-servers, or valkey-servers, whose files are in this directory. */
export function serversOn(directory: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isServerOn(name, directory))
    .map(Number)
}

function isServerOn(pid: string, directory: string): boolean {
  try {
    if (readlinkSync(join('/proc', pid, 'cwd')) !== directory) return false
    return /(?:redis|valkey)-server/.test(readFileSync(join('/proc', pid, 'cmdline'), 'utf8'))
  } catch {
    return false // it has ended, or belongs to another user
  }
}
