import { createHash } from 'node:crypto'
import type { Driver } from 'perilune'
import type { Script, ScriptCall } from '../../src/driver.ts'

/** A driver whose scripts are sent as `rewrite` has them, from the time on when `isRewriting`. */
export function rewriting(
  driver: Driver,
  rewrite: (script: Script) => string,
  isRewriting: () => boolean = () => true,
): Driver {
  const known = new Map<string, Script>()
  const rewritten = (script: Script): Script => {
    const source = rewrite(script)
    return { ...script, source, sha1: createHash('sha1').update(source).digest('hex') }
  }
  const swapped = (script: Script): Script => {
    if (!isRewriting()) return script
    const made = known.get(script.sha1) ?? rewritten(script)
    known.set(script.sha1, made)
    return made
  }
  const swappedIn = (call: ScriptCall): ScriptCall => ({ ...call, script: swapped(call.script) })
  return Object.assign(Object.create(driver) as Driver, {
    run: (call: ScriptCall) => driver.run(swappedIn(call)),
    runMany: (calls: readonly ScriptCall[]) => driver.runMany(calls.map(swappedIn)),
    load: (script: Script) => driver.load(swapped(script)),
    info: () => driver.info(),
    close: () => driver.close(),
    healthy: () => driver.healthy(),
    subscribe: (...args: Parameters<Driver['subscribe']>) => driver.subscribe(...args),
  })
}
