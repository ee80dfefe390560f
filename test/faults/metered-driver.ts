// The work of a script on the server, counted inside it: the number of commands, the elements that go into them and
// come back, and their bytes. One command may touch a million elements.

import type { Driver } from 'perilune'
import type { Script } from '../../src/driver.ts'
import { rewriting } from './rewriting-driver.ts'

/** The work of one script call. */
export interface Metered {
  readonly script: string
  readonly commands: number
  readonly elements: number
  readonly bytes: number
}

/** Where the counts of all calls are appended. */
export const METER = 'meter'

const HEAD = `local server, commands, elements, bytes = redis, 0, 0, 0
local function weigh(part)
  bytes = bytes + (type(part) == 'string' and #part or 0)
end
local function count(part)
  if type(part) ~= 'table' then
    elements = elements + 1
    weigh(part)
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
    for at = 1, select('#', ...) do
      weigh((select(at, ...)))
    end
    return count(run(...))
  end
end
local redis = setmetatable({ call = counted(server.call), pcall = counted(server.pcall) }, { __index = server })
local function script()
`

const TAIL = `
end
local answer = script()
server.call('RPUSH', '${METER}', ARGV_NAME .. ' ' .. commands .. ' ' .. elements .. ' ' .. string.format('%.0f', bytes))
return answer`

function metered({ name, source }: Script): string {
  return HEAD + source + TAIL.replace('ARGV_NAME', `'${name}'`)
}

/** A driver whose scripts count what they do, from the time on when `isCounting`. */
export function metering(driver: Driver, isCounting?: () => boolean): Driver {
  return rewriting(driver, metered, isCounting)
}

/** The entries of the meter, parsed. */
export function parseMetered(line: string): Metered {
  const [script = '', commands, elements, bytes] = line.split(' ')
  return { script, commands: Number(commands), elements: Number(elements), bytes: Number(bytes) }
}
