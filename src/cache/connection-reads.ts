// The plain reads of one connection: those in flight, those that wait for room, and retries.

import { ConnectionLostError, type ReadCall, type Reply, ServerReplyError } from '../driver.ts'
import type { Due } from '../runtime/time/deadlines.ts'
import { closed } from '../runtime/calls/runner.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { isPassing, toPeriluneError } from '../runtime/calls/script-errors.ts'
import { DriverError } from '../runtime/errors/errors.ts'
import { pause } from '../runtime/time/in-time.ts'

const FIRST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 100
/** The keys of one MGET, bounded so that other commands do not wait long. */
const MOST_TOGETHER = 64

const MOST_BYTES = 2 * 1024 * 1024
/** Reads are not limited while the mean value is smaller. */
const LARGE_BYTES = 65_536
/** The number of reads before the first answer. */
const FIRST_KEYS = 4
/** The approximate number of keys in the moving mean. */
const LOOKED_BACK = 16

/** A read of one key with a waiting caller. */
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
  /** The reads that wait for room. */
  #line: InLine[] = []

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  /** A value of this size was stored and may be read. */
  stored(bytes: number): void {
    this.#sizes.learn(1, bytes)
  }

  /** Sends the reads of one tick, now or when there is room. */
  send(all: readonly KeyRead[], withinMs: number): void {
    const large = all.filter(({ mayBeLarge }) => mayBeLarge)
    const room = this.#line.length === 0 ? this.#sizes.room : 0
    if (large.length <= room) return this.#ask(all, withinMs)
    const later = new Set(large.slice(room))
    this.#waitForRoom([...later], withinMs)
    const now = all.filter((each) => !later.has(each))
    if (now.length > 0) this.#ask(now, withinMs)
  }

  /** The time limit of a read begins when it is sent; until then only the deadline of calls applies. */
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
      // The server would not answer the waiting reads either.
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

  /**
   * The total bytes of values that may be large. Throws ConnectionLostError for an invalid reply: it may belong to
   * another call, so the connection is dropped.
   */
  #settle(group: readonly KeyRead[], reply: Reply): number {
    const values = valuesOf(group.length, reply)
    if (values === null) {
      this.#runtime.runner.driver.reconnect?.(group[0]?.key ?? '')
      throw new ConnectionLostError('the reply to a read was not bytes', true)
    }
    for (const [at, read] of group.entries()) read.resolve(values[at] ?? null)
    return group.reduce((sum, { mayBeLarge }, at) => sum + (mayBeLarge ? (values[at]?.length ?? 0) : 0), 0)
  }

  /** The reads of one command. In a cluster each key has its own slot, perhaps on another node. */
  #grouped(all: readonly KeyRead[]): (readonly KeyRead[])[] {
    const most = this.#runtime.server.info?.cluster === false ? MOST_TOGETHER : 1
    const count = Math.ceil(all.length / most)
    return Array.from({ length: count }, (_, nth) => all.slice(nth * most, (nth + 1) * most))
  }

  /** Retries each read separately, so that an error of one does not affect the others. */
  async #allAgain(group: readonly KeyRead[], error: unknown, by: number): Promise<null> {
    await Promise.all(group.map((each) => this.#again(each, error, by)))
    return null
  }

  /** Retries after a lost connection or a temporary error of the server. */
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

/** Unsent reads of one tick. */
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

/** The values of a GET or MGET; null when the reply is invalid. */
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
 * Limits the values in flight to about 2 MiB, by the mean size of earlier values. All answers share one connection,
 * and later answers queue after them. A read that waits here is not sent yet, so its time limit has not begun. The
 * mean includes values that this process stores, because most keys are first absent, then stored, and only then read.
 */
class AnswerSizes {
  /** The mean size of a value; null before the first answer. */
  #mean: number | null = null
  #due = 0

  /** The number of keys that may be read now. */
  get room(): number {
    return Math.max(0, this.#most() - this.#due)
  }

  asked(keys: number): void {
    this.#due += keys
  }

  /** The reads are settled; `bytes`: the total size of their answers, null without an answer. */
  over(keys: number, bytes: number | null): void {
    this.#due -= keys
    if (bytes !== null) this.learn(keys, bytes)
  }

  /** Notes the total bytes of values that were or will be read for these keys. */
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
