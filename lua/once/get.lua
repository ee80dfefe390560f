--[[
Returns the result of a key; none if its caller could not keep it.

@returns found   token:integer kept_until_ms:integer result:bytes
@returns absent
@cost    O(1)
@reads
]]
local codec = ARGV[1] -- text: name of the codec that makes the results

local known = try(open_once(keys.state))
local now_ms = math.floor(clock_us() / 1000)
if not known.result or not known.kept or not counts(known, now_ms) then
  return { 'absent' }
end
if known.codec ~= codec then
  return redis.error_reply('CODEC ' .. known.codec)
end
return { 'found', known.token, known.kept_until_ms, known.result }
