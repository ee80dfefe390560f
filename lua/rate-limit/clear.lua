--[[
Removes all data of a subject: all its units and places are free. Tokens keep rising, even if the clock has stepped
back.

@returns cleared  existed:flag
@cost    O(1); after a clock step back O(known limits and callers)
]]

local known = redis.pcall('HMGET', keys.state, 'layout', 'time')
local left, kept_ms, time
if known[1] == '1' then
  local token, taken_us, offset_us = read_time(known[2])
  left, kept_ms = token_to_leave(token, math.floor(clock_us() / 1000))
  time = left and pack_time(tonumber(left), taken_us, offset_us)
end
if not left then
  return { 'cleared', redis.call('UNLINK', keys.state) }
end
-- The key is not removed first: a node that is moving the slot away would take it for one that has already moved.
local fields = {}
for _, field in ipairs(redis.call('HKEYS', keys.state)) do
  if field ~= 'layout' then
    fields[#fields + 1] = field
  end
end
for from = 1, #fields, 1000 do
  redis.call('HDEL', keys.state, unpack(fields, from, math.min(from + 999, #fields)))
end
redis.call('PEXPIRE', keys.state, kept_ms)
redis.call('HSET', keys.state, 'time', time)
return { 'cleared', 1 }
