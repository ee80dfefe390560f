// A clock that stands still until a test moves it. Scripts read the time through one fragment. Here it is replaced by
// another one, which reads a key next to the unit's own keys.

import { createHash } from 'node:crypto'
import type { Driver, Reply, Script, ScriptCall } from '../driver.ts'

/** Replaces shared/clock. Without its key it returns the real time. */
export const TEST_CLOCK = `-- Takes the place of shared/clock in tests: a clock that stands where the test put it. Its key shares
-- the hash tag of the call's keys, so it works on a cluster too. Without that key it tells the real time.
local function clock_us()
  local set = redis.call('GET', string.match(KEYS[1], '^.-}') .. ':clock')
  if set then
    return tonumber(set)
  end
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end`

/** The initial time of every unit's test clock, in microseconds. */
export const START_US = 1_800_000_000_000_000

/** The script with the test clock in place of `clock`, the text with that name in lua/contract.json. */
export function onTestClock(script: Script, clock: string): Script {
  const source = script.source.replace(clock, () => TEST_CLOCK)
  return { ...script, source, sha1: createHash('sha1').update(source).digest('hex') }
}

/** A driver whose scripts use the test clock; everything else passes through. */
export function withTestClock(driver: Driver, clock: string): Driver {
  const known = new Map<string, Script>()
  const swapped = (script: Script): Script => {
    const made = known.get(script.sha1) ?? onTestClock(script, clock)
    known.set(script.sha1, made)
    return made
  }
  const onClock = (call: ScriptCall): ScriptCall => ({ ...call, script: swapped(call.script) })
  return {
    name: driver.name,
    run: (call) => driver.run(onClock(call)),
    runMany: (calls) => driver.runMany(calls.map(onClock)),
    load: (script) => driver.load(swapped(script)),
    read: (calls) => driver.read(calls),
    write: (call) => driver.write(call),
    subscribe: (channel, listener) => driver.subscribe(channel, listener),
    info: () => driver.info(),
    wait: (key, replicas, timeoutMs) => driver.wait(key, replicas, timeoutMs),
    reconnect: (key) => driver.reconnect?.(key),
    healthy: () => driver.healthy(),
    close: () => driver.close(),
  }
}

/** Sets the test clock of one unit; `prefix` is the beginning of its keys: `perilune:{feed:room}`. */
export async function setTestClock(driver: Driver, prefix: string, us: number): Promise<void> {
  await runCommand(driver, [`${prefix}:clock`], ['SET', `${prefix}:clock`, us])
}

/** Runs one Redis command whose keys share a slot. Resolves to its reply. */
export function runCommand(
  driver: Driver,
  keys: readonly string[],
  words: readonly (string | number | Uint8Array)[],
): Promise<Reply> {
  return driver.run({ script: COMMAND, keys, args: words, send: 'source' })
}

const COMMAND: Script = {
  name: 'testing/command',
  sha1: '',
  source: 'return redis.call(unpack(ARGV))',
  reads: false,
  bytes: true,
}
