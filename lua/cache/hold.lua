--[[
Says in a value that levels may hold it, so that they are told when it ends or another takes its place. Absent when it is
not the one with this token any more. Repeating the call changes nothing.

@returns held
@returns absent
@cost    O(1)
]]
local token = tonumber(ARGV[1]) -- integer: token of the value

local head = try(open_head(keys.value))
if head.token == 0 or head.token ~= token then
  return { 'absent' }
end
if not head.held then
  redis.call('SETRANGE', keys.value, '1', string.char(head.flags + VALUE_FLAGS.held))
end
return { 'held' }
