// How long a script keeps a processor busy. SLOWLOG tells how long it takes, in which it may wait for one.

/** The script, which does `note` in the end: Lua that finds the seconds in `took`. */
export function timedOnProcessor(source: string, note: string): string {
  return `local function on_processor()
  local info = redis.call('INFO', 'cpu')
  return string.match(info, 'user_main_thread:(%S+)') + string.match(info, 'sys_main_thread:(%S+)')
end
local began = on_processor()
local function script()
${source}
end
local answer = script()
local took = on_processor() - began
${note}
return answer`
}
