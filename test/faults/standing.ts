// Diagnostics for a crowd that stands still: the last errors of its drivers, and how the servers see themselves.

import type { Driver } from 'perilune'
import type { ScriptCall, WriteCall } from '../../src/driver.ts'
import { ask } from '../servers/ask.ts'

/** Of the last seconds only: failures during an outage do not explain a later stand-still. */
const SHOWN_MS = 5000

interface Seen {
  readonly atMs: number
  readonly what: string
}

/** A driver that remembers what its calls ended with. */
export class Watched {
  readonly driver: Driver
  #seen: Seen[] = []
  #due = 0

  constructor(driver: Driver) {
    const watched: Partial<Driver> = {
      run: (call: ScriptCall) => this.#watch(`${call.script.name} ${call.keys[0]}`, driver.run(call)),
      write: (call: WriteCall) => this.#watch(`${call.command} ${String(call.args[0])}`, driver.write(call)),
    }
    this.driver = new Proxy(driver, {
      get(_, name) {
        const own: unknown = Reflect.get(watched, name) ?? Reflect.get(driver, name, driver)
        return typeof own === 'function' ? own.bind(driver) : own
      },
    })
  }

  /** How often each call ended in which way lately. */
  get lately(): Record<string, number> {
    this.#forget()
    const counts: Record<string, number> = { 'answers due': this.#due }
    for (const { what } of this.#seen) counts[what] = (counts[what] ?? 0) + 1
    return counts
  }

  async #watch<T>(what: string, answer: Promise<T>): Promise<T> {
    this.#due++
    try {
      const reply = await answer
      this.#note(`${what}: answered`)
      return reply
    } catch (error) {
      this.#note(`${what}: ${String(error)}`)
      throw error
    } finally {
      this.#due--
    }
  }

  #note(what: string): void {
    this.#seen.push({ atMs: performance.now(), what })
    if (this.#seen.length > 10_000) this.#forget()
  }

  #forget(): void {
    const since = performance.now() - SHOWN_MS
    this.#seen = this.#seen.filter(({ atMs }) => atMs >= since).slice(-5000)
  }
}

/** Runs it; on failure, the error also contains the errors of the drivers and the state of the servers. */
export async function orSayWhy(
  wait: () => Promise<void>,
  drivers: readonly Watched[],
  ports: readonly number[],
): Promise<void> {
  try {
    await wait()
  } catch (error) {
    const views = await Promise.all(ports.map(viewOf))
    const met = drivers.map(({ lately, driver }, at) => ({ driver: at, healthy: driver.healthy(), lately }))
    throw new Error(`${String(error)}\n${JSON.stringify(met, null, 1)}\n${views.join('\n')}`, {
      cause: error,
    })
  }
}

async function viewOf(port: number): Promise<string> {
  const answers = await Promise.all(
    [
      ['INFO', 'replication'],
      ['CLUSTER', 'NODES'],
      ['CLUSTER', 'INFO'],
    ].map(([command = '', word = '']) => ask(port, command, word).catch(String)),
  )
  return `port ${port}\n${answers.join('\n')}`
}
