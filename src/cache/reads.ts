// Plain reads. Those of one tick travel together, and the same key is read once. A read that was sent is not
// joined by anybody: he may know of an invalidation that came after it.

import { type ReadCall, type Reply, ConnectionLostError, ServerReplyError } from '../driver.ts'
import { DriverError } from '../runtime/errors.ts'
import { closed, type Runner } from '../runtime/runner.ts'
import { isPassing, toPeriluneError } from '../runtime/script-errors.ts'

const READ = { script: { name: 'cache read' }, lines: [] } as const
const FIRST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 100

export class Reads {
  readonly #runner: Runner
  #gathered = new Map<string, Waiting>()

  constructor(runner: Runner) {
    this.#runner = runner
  }

  /** GET of this key; resolves to null when there is none. Rejects as `untilRead` does. */
  get(key: string, withinMs: number): Promise<Buffer | null> {
    if (this.#runner.closed) return Promise.reject(closed())
    const joined = this.#gathered.get(key)
    if (joined !== undefined) return joined.promise
    if (this.#gathered.size === 0) process.nextTick(() => this.#send(withinMs))
    const waiting = new Waiting({ command: 'GET', args: [key] })
    this.#gathered.set(key, waiting)
    return waiting.promise
  }

  #send(withinMs: number): void {
    const all = [...this.#gathered.values()]
    this.#gathered = new Map()
    const replies = this.#runner.driver.read(all.map(({ call }) => call))
    const by = performance.now() + withinMs
    // One timer for all of them.
    const due = { by, giveUp: (reason?: Error): void => giveUp(all, reason ?? late()) }
    this.#runner.deadlines.add(due)
    let open = all.length
    const over = (): void => {
      open -= 1
      if (open === 0) this.#runner.deadlines.remove(due)
    }
    for (const [at, waiting] of all.entries()) this.#settle(waiting, replies[at], by, over)
  }

  /** Not `async`: most reads are hits, which cost little else. */
  #settle(waiting: Waiting, reply: Promise<Reply> | undefined, by: number, over: () => void): void {
    const answered = (value: Reply): void => {
      waiting.resolve(toBytes(value))
      over()
    }
    reply?.then(answered).catch((error: unknown) => this.#again(waiting, error, by).finally(over))
  }

  /** A connection that broke, or a server that cannot answer just now, is asked again. */
  async #again(waiting: Waiting, first: unknown, by: number): Promise<void> {
    let error = first
    for (
      let pauseMs = FIRST_PAUSE_MS;
      isWorthAnother(error);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
    ) {
      if (performance.now() + pauseMs >= by) break
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
      const [reply = null] = this.#runner.driver.read([waiting.call])
      try {
        return waiting.resolve(toBytes(await reply))
      } catch (failure) {
        error = failure
      }
    }
    waiting.reject(toError(error))
  }
}

class Waiting {
  readonly call: ReadCall
  readonly promise: Promise<Buffer | null>
  resolve: (bytes: Buffer | null) => void = () => undefined
  reject: (error: unknown) => void = () => undefined

  constructor(call: ReadCall) {
    this.call = call
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
  }
}

/** Not at once: after a stall of this process the answers may be there already, and are only not read yet. */
function giveUp(all: readonly Waiting[], reason: Error): void {
  setImmediate(() => all.forEach((each) => each.reject(reason)))
}

function toBytes(reply: Reply): Buffer | null {
  if (reply === null || Buffer.isBuffer(reply)) return reply
  throw new DriverError('script-failed', 'the server answered something else than bytes to a read')
}

function isWorthAnother(error: unknown): boolean {
  return error instanceof ConnectionLostError || (error instanceof ServerReplyError && isPassing(error))
}

function toError(error: unknown): unknown {
  if (isWorthAnother(error)) return late(error)
  return error instanceof ServerReplyError ? toPeriluneError(error, READ) : error
}

function late(cause?: unknown): DriverError {
  return new DriverError('unreachable', 'cache read: no server answered in time', { cause })
}
