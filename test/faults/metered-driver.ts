// What a script asks of the server, counted inside it: how many commands, and how many elements go into them
// and come back. One command may touch a million of them.

import { createHash } from 'node:crypto'
import type { Driver } from 'perilune'
import type { Script, ScriptCall } from '../../src/driver.ts'

/** What one script call did. */
export interface Metered {
  readonly script: string
  readonly commands: number
  readonly elements: number
}

/** Where the counts of all calls are appended. */
export const METER = 'meter'

const HEAD = `local server, commands, elements = redis, 0, 0
local function count(part)
  if type(part) ~= 'table' then
    elements = elements + 1
    return part
  end
  for _, inner in ipairs(part) do
    count(inner)
  end
  return part
end
local function counted(run)
  return function(...)
    commands, elements = commands + 1, elements + select('#', ...)
    return count(run(...))
  end
end
local redis = setmetatable({ call = counted(server.call), pcall = counted(server.pcall) }, { __index = server })
local function script()
`

const TAIL = `
end
local answer = script()
server.call('RPUSH', '${METER}', ARGV_NAME .. ' ' .. commands .. ' ' .. elements)
return answer`

function metered(script: Script): Script {
  const tail = TAIL.replace('ARGV_NAME', `'${script.name}'`)
  const source = HEAD + script.source + tail
  return { ...script, source, sha1: createHash('sha1').update(source).digest('hex') }
}

/** A driver whose scripts count what they do, from the time on when `isCounting`. */
export function metering(driver: Driver, isCounting: () => boolean = () => true): Driver {
  const known = new Map<string, Script>()
  const swapped = (script: Script): Script => {
    if (!isCounting()) return script
    const made = known.get(script.sha1) ?? metered(script)
    known.set(script.sha1, made)
    return made
  }
  const counted = (call: ScriptCall): ScriptCall => ({ ...call, script: swapped(call.script) })
  return Object.assign(Object.create(driver) as Driver, {
    run: (call: ScriptCall) => driver.run(counted(call)),
    runMany: (calls: readonly ScriptCall[]) => driver.runMany(calls.map(counted)),
    load: (script: Script) => driver.load(swapped(script)),
    info: () => driver.info(),
    close: () => driver.close(),
    healthy: () => driver.healthy(),
    subscribe: (...args: Parameters<Driver['subscribe']>) => driver.subscribe(...args),
  })
}

/** What was appended to the meter, parsed. */
export function parseMetered(line: string): Metered {
  const [script = '', commands, elements] = line.split(' ')
  return { script, commands: Number(commands), elements: Number(elements) }
}
