// The plain reads of one connection: what is asked at once, what waits for room, and what is asked again.

import { ConnectionLostError, type ReadCall, type Reply, ServerReplyError } from '../driver.ts'
import type { Due } from '../runtime/time/deadlines.ts'
import { closed } from '../runtime/calls/runner.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { isPassing, toPeriluneError } from '../runtime/calls/script-errors.ts'
import { DriverError } from '../runtime/errors/errors.ts'
import { pause } from '../runtime/time/in-time.ts'

const FIRST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 100
/** Keys of one MGET: nobody else's command waits for more. */
const MOST_TOGETHER = 64

const MOST_BYTES = 2 * 1024 * 1024
/** Smaller values are asked for in any number. */
const LARGE_BYTES = 65_536
/** While none has come. */
const FIRST_KEYS = 4
/** So many keys the mean is of, about. */
const LOOKED_BACK = 16

/** A read of one key, for which somebody waits. */
export class KeyRead {
  readonly key: string
  readonly mayBeLarge: boolean
  readonly promise: Promise<Buffer | null>
  resolve!: (bytes: Buffer | null) => void
  reject!: (error: unknown) => void

  constructor(key: string, mayBeLarge: boolean) {
    this.key = key
    this.mayBeLarge = mayBeLarge
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
  }
}

export class ConnectionReads {
  readonly #runtime: Runtime
  readonly #sizes = new AnswerSizes()
  /** Those for which there was no room. */
  #line: InLine[] = []

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  /** A value of so many bytes is there to be read. */
  stored(bytes: number): void {
    this.#sizes.learn(1, bytes)
  }

  /** Those of one tick: now, or when there is room. */
  send(all: readonly KeyRead[], withinMs: number): void {
    const large = all.filter(({ mayBeLarge }) => mayBeLarge)
    const room = this.#line.length === 0 ? this.#sizes.room : 0
    if (large.length <= room) return this.#ask(all, withinMs)
    const later = new Set(large.slice(room))
    this.#waitForRoom([...later], withinMs)
    const now = all.filter((each) => !later.has(each))
    if (now.length > 0) this.#ask(now, withinMs)
  }

  /** Until then no server is late for them. */
  #waitForRoom(all: readonly KeyRead[], withinMs: number): void {
    const { deadlines, deadlineMs } = this.#runtime.runner
    const inLine: InLine = {
      left: all,
      withinMs,
      by: performance.now() + Math.max(deadlineMs, withinMs),
      giveUp: (reason = overloaded()) => {
        this.#line = this.#line.filter((each) => each !== inLine)
        deadlines.remove(inLine)
        for (const each of inLine.left) each.reject(reason)
      },
    }
    this.#line.push(inLine)
    deadlines.add(inLine)
  }

  #askNext(): void {
    for (let [next] = this.#line; next !== undefined; [next] = this.#line) {
      const { room } = this.#sizes
      if (room === 0) return
      const asked = next.left.slice(0, room)
      next.left = next.left.slice(room)
      if (next.left.length === 0) {
        this.#line.shift()
        this.#runtime.runner.deadlines.remove(next)
      }
      this.#ask(asked, next.withinMs)
    }
  }

  #ask(all: readonly KeyRead[], withinMs: number): void {
    const { deadlines, driver } = this.#runtime.runner
    const groups = this.#grouped(all)
    const replies = driver.read(groups.map(toCall))
    this.#sizes.asked(countLarge(all))
    // One timer for all of them.
    const by = performance.now() + withinMs
    const open = new Set(groups)
    const over = (group: readonly KeyRead[], bytes: number | null): void => {
      if (!open.delete(group)) return
      if (open.size === 0) deadlines.remove(due)
      this.#sizes.over(countLarge(group), bytes)
      this.#askNext()
    }
    const giveUpLate = (): void => {
      if (open.size === 0) return
      for (const each of all) each.reject(late())
      // No server answers those in the line, either.
      for (const each of this.#line) each.giveUp(late())
      for (const group of open) over(group, null)
    }
    const due: Due = {
      by,
      giveUp: (reason) => {
        if (reason === undefined) giveUpLate()
        else for (const each of all) each.reject(reason)
      },
    }
    deadlines.add(due)
    for (const [at, group] of groups.entries()) {
      void replies[at]
        ?.then((reply) => this.#settle(group, reply))
        .catch((error: unknown) => this.#allAgain(group, error, by))
        .then((bytes) => over(group, bytes))
    }
  }

  /** How many bytes came of those that may be large. Throws ConnectionLostError for an answer that is none: it may belong to another call, and so its connection is dropped. */
  #settle(group: readonly KeyRead[], reply: Reply): number {
    const values = valuesOf(group.length, reply)
    if (values === null) {
      this.#runtime.runner.driver.reconnect?.(group[0]?.key ?? '')
      throw new ConnectionLostError('a read was answered with something else than bytes', true)
    }
    for (const [at, read] of group.entries()) read.resolve(values[at] ?? null)
    return group.reduce((sum, { mayBeLarge }, at) => sum + (mayBeLarge ? (values[at]?.length ?? 0) : 0), 0)
  }

  /** What goes in one command. In a cluster each key has its own slot, and perhaps its own node. */
  #grouped(all: readonly KeyRead[]): (readonly KeyRead[])[] {
    const most = this.#runtime.server.info?.cluster === false ? MOST_TOGETHER : 1
    const count = Math.ceil(all.length / most)
    return Array.from({ length: count }, (_, nth) => all.slice(nth * most, (nth + 1) * most))
  }

  /** Each by itself: what one of them meets is nothing to the others. */
  async #allAgain(group: readonly KeyRead[], error: unknown, by: number): Promise<null> {
    await Promise.all(group.map((each) => this.#again(each, error, by)))
    return null
  }

  /** A connection that broke, or a server that cannot answer just now, is asked again. */
  async #again(read: KeyRead, first: unknown, by: number): Promise<void> {
    let error = first
    for (
      let pauseMs = FIRST_PAUSE_MS;
      isWorthAnother(error);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
    ) {
      if (performance.now() + pauseMs >= by || this.#runtime.runner.closed) break
      await pause(pauseMs)
      if (this.#runtime.runner.closed) return read.reject(closed())
      const [reply = null] = this.#runtime.runner.driver.read([toCall([read])])
      try {
        this.#settle([read], await reply)
        return
      } catch (failure) {
        error = failure
      }
    }
    read.reject(toError(error))
  }
}

/** Reads of one tick that were not sent. */
interface InLine extends Due {
  left: readonly KeyRead[]
  readonly withinMs: number
}

function countLarge(group: readonly KeyRead[]): number {
  return group.reduce((count, { mayBeLarge }) => count + (mayBeLarge ? 1 : 0), 0)
}

function toCall(group: readonly KeyRead[]): ReadCall {
  return { command: group.length === 1 ? 'GET' : 'MGET', args: group.map(({ key }) => key) }
}

const READ = { script: { name: 'cache read' } } as const

/** Of a GET the value, of an MGET those of its keys; null when the reply is that of neither. */
function valuesOf(keys: number, reply: Reply): (Buffer | null)[] | null {
  const values = keys === 1 ? [reply] : reply
  const isWhole = Array.isArray(values) && values.length === keys
  return isWhole && values.every(isBytes) ? values : null
}

function isBytes(reply: Reply): reply is Buffer | null {
  return reply === null || Buffer.isBuffer(reply)
}

function isWorthAnother(error: unknown): boolean {
  return error instanceof ConnectionLostError || (error instanceof ServerReplyError && isPassing(error))
}

function toError(error: unknown): unknown {
  if (isWorthAnother(error)) return late(error)
  return error instanceof ServerReplyError ? toPeriluneError(error, READ) : error
}

export function overloaded(): DriverError {
  return new DriverError('overloaded', 'cache read: the deadline passed before there was room for its answer')
}

/** No server answered. */
export function late(cause?: unknown): DriverError {
  return new DriverError('unreachable', 'cache read: no server answered in time', { cause })
}

/**
 * How many values may be asked for at once: as many as come as 2 MiB, by the mean of those that came before. All that is asked for
 * comes over one connection, and others wait behind it; who waits here has not asked yet, so that no server is late for him. What this
 * process stores counts as well as what it reads: a key is mostly absent, then stored, and only then read.
 */
class AnswerSizes {
  /** Of the values of keys; null before the first answer. */
  #mean: number | null = null
  #due = 0

  /** How many more keys may be asked for. */
  get room(): number {
    return Math.max(0, this.#most() - this.#due)
  }

  asked(keys: number): void {
    this.#due += keys
  }

  /** Nobody waits for their answer any more; `bytes` of all of them, null where there was none. */
  over(keys: number, bytes: number | null): void {
    this.#due -= keys
    if (bytes !== null) this.learn(keys, bytes)
  }

  /** So many bytes are what comes for so many keys, or will come. */
  learn(keys: number, bytes: number): void {
    if (keys === 0) return
    const before = this.#mean === null ? 0 : LOOKED_BACK
    this.#mean = ((this.#mean ?? 0) * before + bytes) / (before + keys)
  }

  #most(): number {
    if (this.#mean === null) return FIRST_KEYS
    return this.#mean < LARGE_BYTES ? Infinity : Math.max(1, Math.floor(MOST_BYTES / this.#mean))
  }
}
