// Time for users' tests: it stands still until a test advances it, for whole instances of Perilune with all their
// structures, scripts and slots. Each call carries the time as an extra last argument, which its script removes before
// it reads the others. So no key is written, other users of the server are not affected, and the clock ends with the
// process.

import { createHash } from 'node:crypto'
import { types } from 'node:util'
import type { Driver, Listener, Script, ScriptCall } from '../driver.ts'
import type { HasRuntime } from '../runtime/connection/access.ts'
import { checkOptions } from '../runtime/values/arguments.ts'
import { type Duration, toMs } from '../runtime/values/duration.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'

export interface TestClockOptions {
  /** The initial time; default: now. */
  startsAt?: Date
}

export interface TestClock {
  /** The current time for scripts, in Unix milliseconds. */
  readonly nowMs: number
  /**
   * Advances the time at once. No lease is renewed in between, as if every process had been asleep; then all
   * waiters look again. Throws InvalidArgumentError.
   */
  advance(by: Duration): void
}

/**
 * Makes these instances use a clock that stands still until a test advances it; call it before their first use. Expiry
 * by Redis itself follows the real time. Throws InvalidArgumentError, and an Error when NODE_ENV is `production`.
 */
export function testClock(
  redis: HasRuntime | readonly HasRuntime[],
  options: TestClockOptions = {},
): TestClock {
  checkOptions('options', options, ['startsAt'])
  if (process.env['NODE_ENV'] === 'production') throw new Error('a test clock is not for production')
  const clock = new InstanceClock(startOf(options))
  const all = 'runtime' in redis ? [redis] : redis
  for (const one of all) clock.drive(one.runtime)
  return clock
}

function startOf({ startsAt = new Date() }: TestClockOptions): number {
  const ms = types.isDate(startsAt) ? startsAt.getTime() : Number.NaN
  if (!(ms > 0)) throw new InvalidArgumentError('options.startsAt', 'must be a Date after 1970')
  return ms
}

const driven = new WeakMap<Driver, TestClock>()

class InstanceClock implements TestClock {
  #nowMs: number
  readonly #runtimes: Runtime[] = []
  readonly #listeners = new Set<Listener>()

  constructor(startsAtMs: number) {
    this.#nowMs = startsAtMs
  }

  get nowMs(): number {
    return this.#nowMs
  }

  advance(by: Duration): void {
    this.#nowMs += toMs('by', by)
    // Caches judge hits by the server time in earlier answers.
    for (const { clock } of this.#runtimes) clock.forget()
    for (const listener of this.#listeners) listener.onGap()
  }

  drive(runtime: Runtime): void {
    const { driver } = runtime.runner
    const by = driven.get(driver)
    if (this.#runtimes.includes(runtime) || (by !== undefined && by !== this))
      throw new InvalidArgumentError('redis', 'has a test clock already')
    this.#runtimes.push(runtime)
    if (by === undefined) Object.assign(driver, this.#around(driver))
    driven.set(driver, this)
  }

  #around(driver: Driver): Partial<Driver> {
    const run = driver.run.bind(driver)
    const runMany = driver.runMany.bind(driver)
    const load = driver.load.bind(driver)
    const subscribe = driver.subscribe.bind(driver)
    return {
      run: (call) => run(this.#timed(call)),
      runMany: (calls) => runMany(calls.map((call) => this.#timed(call))),
      load: (script) => load(onCallsClock(script)),
      subscribe: async (channel, listener) => {
        const subscription = await subscribe(channel, listener)
        this.#listeners.add(listener)
        const close = (): Promise<void> => {
          this.#listeners.delete(listener)
          return subscription.close()
        }
        return { close }
      },
    }
  }

  #timed(call: ScriptCall): ScriptCall {
    const script = onCallsClock(call.script)
    return script === call.script ? call : { ...call, script, args: [...call.args, this.#nowMs * 1000] }
  }
}

const CLOCK = /^local function clock_us\(\)\n[^]*?\nend$/gm
const TAKEN_ALONG = 'local test_clock_us = tonumber(table.remove(ARGV)) '

const known = new WeakMap<Script, Script>()

/** The script with the time from its calls; unchanged when it does not read the clock. */
function onCallsClock(script: Script): Script {
  const before = known.get(script)
  if (before !== undefined) return before
  const made = remade(script)
  known.set(script, made)
  return made
}

function remade(script: Script): Script {
  const swapped = script.source.replace(CLOCK, standingClock)
  if (/['"]TIME['"]/.test(swapped))
    throw new Error(`${script.name} reads the time in a way that testClock does not know`)
  if (swapped === script.source) return script
  const source = TAKEN_ALONG + swapped
  return { ...script, source, sha1: createHash('sha1').update(source).digest('hex') }
}

/** With the number of lines of the clock that it replaces, because errors name lines. */
function standingClock(clock: string): string {
  const empty = '\n'.repeat(clock.split('\n').length - 3)
  return `local function clock_us()\n  return test_clock_us${empty}\nend`
}
