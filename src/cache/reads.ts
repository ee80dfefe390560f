// Plain reads. Those of one tick travel together, as one MGET, and the same key is read once. A read that was sent is
// not joined by anybody: he may know of an invalidation that came after it (docs/decisions/0028).

import { type ReadCall, type Reply, ConnectionLostError, ServerReplyError } from '../driver.ts'
import { DriverError } from '../runtime/errors.ts'
import { closed } from '../runtime/runner.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { isPassing, toPeriluneError } from '../runtime/script-errors.ts'

const READ = { script: { name: 'cache read' }, lines: [] } as const
const FIRST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 100
/** Keys of one MGET: nobody else's command waits for more. */
const MOST_TOGETHER = 64

export class Reads {
  readonly #runtime: Runtime
  #gathered = new Map<string, Waiting>()

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  /** The bytes of this key; resolves to null when there are none. Rejects with DriverError when no answer came in time, or none of bytes. */
  get(key: string, withinMs: number): Promise<Buffer | null> {
    if (this.#runtime.runner.closed) return Promise.reject(closed())
    const joined = this.#gathered.get(key)
    if (joined !== undefined) return joined.promise
    if (this.#gathered.size === 0) process.nextTick(() => this.#send(withinMs))
    const waiting = new Waiting(key)
    this.#gathered.set(key, waiting)
    return waiting.promise
  }

  #send(withinMs: number): void {
    const { deadlines, driver } = this.#runtime.runner
    const all = [...this.#gathered.values()]
    this.#gathered = new Map()
    if (this.#runtime.runner.closed) return all.forEach(({ reject }) => reject(closed()))
    const groups = this.#grouped(all)
    const replies = driver.read(groups.map(toCall))
    // One timer for all of them.
    const by = performance.now() + withinMs
    const due = { by, giveUp: (reason?: Error): void => giveUp(all, reason) }
    deadlines.add(due)
    let open = groups.length
    const over = (): void => {
      open -= 1
      if (open === 0) deadlines.remove(due)
    }
    for (const [at, group] of groups.entries()) {
      replies[at]
        ?.then((reply) => this.#settle(group, reply))
        .catch((error: unknown) => this.#allAgain(group, error, by))
        .finally(over)
    }
  }

  /** Throws ConnectionLostError for an answer that is none: it may belong to another call, and so its connection is dropped. */
  #settle(group: readonly Waiting[], reply: Reply): void {
    const values = valuesOf(group, reply)
    if (values === null) {
      this.#runtime.runner.driver.reconnect?.(group[0]?.key ?? '')
      throw new ConnectionLostError('a read was answered with something else than bytes', true)
    }
    for (const [at, waiting] of group.entries()) waiting.resolve(values[at] ?? null)
  }

  /** What goes in one command. In a cluster each key has its own slot, and perhaps its own node. */
  #grouped(all: readonly Waiting[]): (readonly Waiting[])[] {
    const most = this.#runtime.server.info?.cluster === false ? MOST_TOGETHER : 1
    const count = Math.ceil(all.length / most)
    return Array.from({ length: count }, (_, nth) => all.slice(nth * most, (nth + 1) * most))
  }

  /** Each by itself: what one of them meets is nothing to the others. */
  async #allAgain(group: readonly Waiting[], error: unknown, by: number): Promise<void> {
    await Promise.all(group.map((each) => this.#again(each, error, by)))
  }

  /** A connection that broke, or a server that cannot answer just now, is asked again. */
  async #again(waiting: Waiting, first: unknown, by: number): Promise<void> {
    let error = first
    for (
      let pauseMs = FIRST_PAUSE_MS;
      isWorthAnother(error);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
    ) {
      if (performance.now() + pauseMs >= by || this.#runtime.runner.closed) break
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
      if (this.#runtime.runner.closed) return waiting.reject(closed())
      const [reply = null] = this.#runtime.runner.driver.read([toCall([waiting])])
      try {
        return this.#settle([waiting], await reply)
      } catch (failure) {
        error = failure
      }
    }
    waiting.reject(toError(error))
  }
}

class Waiting {
  readonly key: string
  readonly promise: Promise<Buffer | null>
  resolve!: (bytes: Buffer | null) => void
  reject!: (error: unknown) => void

  constructor(key: string) {
    this.key = key
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
  }
}

/** Not at once where time is over: after a stall of this process the answers may be there, and are only not read yet. */
function giveUp(all: readonly Waiting[], reason?: Error): void {
  if (reason === undefined) setImmediate(() => all.forEach((each) => each.reject(late())))
  else for (const each of all) each.reject(reason)
}

function toCall(group: readonly Waiting[]): ReadCall {
  return { command: group.length === 1 ? 'GET' : 'MGET', args: group.map(({ key }) => key) }
}

/** Of a GET the value, of an MGET those of its keys; null when the reply is that of neither. */
function valuesOf(group: readonly Waiting[], reply: Reply): (Buffer | null)[] | null {
  const values = group.length === 1 ? [reply] : reply
  const isWhole = Array.isArray(values) && values.length === group.length
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

/** No server answered. */
export function late(cause?: unknown): DriverError {
  return new DriverError('unreachable', 'cache read: no server answered in time', { cause })
}
