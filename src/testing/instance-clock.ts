// Time for the tests of users: it stands still until it is moved, for whole instances of Perilune, whatever their structures,
// scripts and slots. Each call carries the time along as one more argument, which its script takes away before it looks at the
// others; so no key is written, nobody else who uses the server notices, and it is gone with the process.

import { createHash } from 'node:crypto'
import { types } from 'node:util'
import type { Driver, Listener, Script, ScriptCall } from '../driver.ts'
import type { HasRuntime } from '../runtime/connection/access.ts'
import { checkOptions } from '../runtime/values/arguments.ts'
import { type Duration, toMs } from '../runtime/values/duration.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'

export interface TestClockOptions {
  /** Where the time stands at first; default: now. */
  startsAt?: Date
}

export interface TestClock {
  /** What time it is for the scripts, in Unix milliseconds. */
  readonly nowMs: number
  /**
   * Sets the time on. It leaps: nothing is extended meanwhile, as if every process had been asleep; then all who wait look
   * again. Throws InvalidArgumentError.
   */
  advance(by: Duration): void
}

/**
 * From now on these instances live by a clock that stands still until a test moves it; before that they should not have been
 * used. What Redis itself expires goes by its own time. Throws InvalidArgumentError, and an Error where NODE_ENV says
 * `production`.
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
    // Caches judge hits by what the server's answers told of its time.
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

/** The script by the time that its calls carry; itself where it does not look at the clock. */
function onCallsClock(script: Script): Script {
  const before = known.get(script)
  if (before !== undefined) return before
  const made = remade(script)
  known.set(script, made)
  return made
}

function remade(script: Script): Script {
  const swapped = script.source.replace(CLOCK, standingClock)
  if (/['"]TIME['"]/.test(swapped)) throw new Error(`${script.name} has another clock than testClock knows`)
  if (swapped === script.source) return script
  const source = TAKEN_ALONG + swapped
  return { ...script, source, sha1: createHash('sha1').update(source).digest('hex') }
}

/** As many lines as the clock that it replaces, for errors name lines. */
function standingClock(clock: string): string {
  const empty = '\n'.repeat(clock.split('\n').length - 3)
  return `local function clock_us()\n  return test_clock_us${empty}\nend`
}
