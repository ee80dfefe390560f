--[[
Marks a value as held by cache levels (L1), so that they are notified when it ends or is replaced. Returns absent if the
stored value has another token. Repeating the call changes nothing.

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
