// The plain reads of one connection: what is asked at once, what waits for room, and what is asked again.

import { type ReadCall, type Reply, ConnectionLostError } from '../driver.ts'
import type { Due } from '../runtime/time/deadlines.ts'
import { closed } from '../runtime/calls/runner.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { AnswerSizes } from './answer-sizes.ts'
import { isWorthAnother, late, overloaded, toError, valuesOf } from './read-answers.ts'
import type { Waiting } from './waiting-read.ts'

const FIRST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 100
/** Keys of one MGET: nobody else's command waits for more. */
const MOST_TOGETHER = 64

export class ReadsAtPlace {
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
  send(all: readonly Waiting[], withinMs: number): void {
    const large = all.filter(({ mayBeLarge }) => mayBeLarge)
    const room = this.#line.length === 0 ? this.#sizes.room : 0
    if (large.length <= room) return this.#ask(all, withinMs)
    const later = new Set(large.slice(room))
    this.#waitForRoom([...later], withinMs)
    const now = all.filter((each) => !later.has(each))
    if (now.length > 0) this.#ask(now, withinMs)
  }

  /** Until then no server is late for them. */
  #waitForRoom(all: readonly Waiting[], withinMs: number): void {
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

  #ask(all: readonly Waiting[], withinMs: number): void {
    const { deadlines, driver } = this.#runtime.runner
    const groups = this.#grouped(all)
    const replies = driver.read(groups.map(toCall))
    this.#sizes.asked(countLarge(all))
    // One timer for all of them.
    const by = performance.now() + withinMs
    const open = new Set(groups)
    const over = (group: readonly Waiting[], bytes: number | null): void => {
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
  #settle(group: readonly Waiting[], reply: Reply): number {
    const values = valuesOf(group.length, reply)
    if (values === null) {
      this.#runtime.runner.driver.reconnect?.(group[0]?.key ?? '')
      throw new ConnectionLostError('a read was answered with something else than bytes', true)
    }
    for (const [at, waiting] of group.entries()) waiting.resolve(values[at] ?? null)
    return group.reduce((sum, { mayBeLarge }, at) => sum + (mayBeLarge ? (values[at]?.length ?? 0) : 0), 0)
  }

  /** What goes in one command. In a cluster each key has its own slot, and perhaps its own node. */
  #grouped(all: readonly Waiting[]): (readonly Waiting[])[] {
    const most = this.#runtime.server.info?.cluster === false ? MOST_TOGETHER : 1
    const count = Math.ceil(all.length / most)
    return Array.from({ length: count }, (_, nth) => all.slice(nth * most, (nth + 1) * most))
  }

  /** Each by itself: what one of them meets is nothing to the others. */
  async #allAgain(group: readonly Waiting[], error: unknown, by: number): Promise<null> {
    await Promise.all(group.map((each) => this.#again(each, error, by)))
    return null
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
        this.#settle([waiting], await reply)
        return
      } catch (failure) {
        error = failure
      }
    }
    waiting.reject(toError(error))
  }
}

/** Reads of one tick that were not sent. */
interface InLine extends Due {
  left: readonly Waiting[]
  readonly withinMs: number
}

function countLarge(group: readonly Waiting[]): number {
  return group.reduce((count, { mayBeLarge }) => count + (mayBeLarge ? 1 : 0), 0)
}

function toCall(group: readonly Waiting[]): ReadCall {
  return { command: group.length === 1 ? 'GET' : 'MGET', args: group.map(({ key }) => key) }
}
