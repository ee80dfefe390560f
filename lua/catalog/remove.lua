--[[
Removes a name and its document. A catalog without names leaves no key.

@returns removed
@returns absent
@cost    O(log names)
]]
local name = ARGV[1] -- text: the name

try(refusal_of_catalog(keys.meta))
redis.call('ZREM', keys.names, name)
if redis.call('HDEL', keys.documents, name) == 1 then
  if redis.call('EXISTS', keys.documents) == 0 then
    redis.call('DEL', keys.meta)
  end
  return { 'removed' }
end
return { 'absent' }
