--[[
Removes a name and its document. A catalog without names leaves no key.

@returns removed
@returns absent
@cost    O(log names)
]]
local name = ARGV[1] -- text: the name

try(refusal_of_catalog(keys.meta))
local is_last = redis.call('HLEN', keys.documents) == 1
-- Removes nothing: without this right the name must stay.
redis.call('HDEL', keys.documents, '')
redis.call('ZREM', keys.names, name)
if redis.call('HDEL', keys.documents, name) == 0 then
  return { 'absent' }
end
if is_last then
  redis.call('HDEL', keys.meta, 'layout')
end
return { 'removed' }
