// Facts about the server, asked for once.

import { type Driver, type ServerInfo, ServerReplyError } from '../../driver.ts'
import { UnsupportedServerError } from '../errors/errors.ts'
import { inTime, rest } from '../time/in-time.ts'
import { closed, type Runner } from './runner.ts'
import { isPassing, toLastError } from './script-errors.ts'

// Assumed when INFO is forbidden: no sharded channels, and a version that is new enough.
const UNKNOWN: ServerInfo = { engine: 'other', version: '', cluster: false, shardedChannels: false }

export class Server {
  readonly #driver: Driver
  #info: ServerInfo | null = null
  #asking: Promise<ServerInfo> | null = null

  constructor(driver: Driver) {
    this.#driver = driver
  }

  /** Null until the server has answered. */
  get info(): ServerInfo | null {
    return this.#info
  }

  /** Asks once; concurrent callers share one question. After a failure the next caller asks again. */
  ask(): Promise<ServerInfo> {
    if (this.#asking !== null) return this.#asking
    const question = this.#driver
      .info()
      .catch((error: unknown) => {
        if (isForbidden(error)) return UNKNOWN
        throw error
      })
      .then((info) => {
        this.#info = info
        return info
      })
      .finally(() => this.forget(question))
    this.#asking = question
    return question
  }

  /** The next caller asks again, although this question has no answer: the client may have forgotten it. */
  forget(question: Promise<ServerInfo>): void {
    if (this.#asking === question) this.#asking = null
  }
}

/**
 * Asks until there is an answer; retries when a connection breaks or the server is loading. Throws DriverError after
 * `deadlineMs`, or at once when the server rejects permanently or `runner` is closed.
 */
export async function askInTime(server: Server, runner: Runner, deadlineMs: number): Promise<ServerInfo> {
  const endsAt = performance.now() + deadlineMs
  const { deadlines, driver } = runner
  for (let pauseMs = 10; ; pauseMs = Math.min(pauseMs * 2, 250)) {
    if (runner.closed) throw closed()
    const question = server.ask()
    try {
      return await inTime(question, endsAt, deadlines, driver)
    } catch (error) {
      server.forget(question)
      if (runner.closed) throw closed()
      const cause = error instanceof Error ? error.cause : undefined
      const reply = cause instanceof ServerReplyError ? cause : null
      const isOver = performance.now() + pauseMs >= endsAt
      if (reply !== null && (isOver || !isPassing(reply))) throw toLastError(reply, INFO)
      if (isOver) throw error
      await rest(pauseMs, deadlines)
    }
  }
}

const INFO = { script: { name: 'info' } } as const

/** Throws UnsupportedServerError when the server is older than `since`; an unknown version passes. */
export function checkVersion(info: ServerInfo, since: string, what: string): void {
  if (info.version !== '' && compareVersions(info.version, since) < 0) {
    throw new UnsupportedServerError(`${what} needs Redis ${since} or newer, the server is ${info.version}`)
  }
}

function compareVersions(left: string, right: string): number {
  const [a, b] = [left.split('.').map(Number), right.split('.').map(Number)]
  for (const [at, part] of b.entries()) {
    const difference = (a[at] ?? 0) - part
    if (difference !== 0) return difference
  }
  return 0
}

function isForbidden(error: unknown): boolean {
  return error instanceof ServerReplyError && error.word === 'NOPERM'
}
