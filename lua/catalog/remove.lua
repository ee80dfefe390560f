--[[
Removes a name and its document. A catalog without names leaves no key.

@returns removed
@returns absent
@cost    O(log names)
]]
local meta = KEYS[1] -- hash: layout of the catalog
local names = KEYS[2] -- sorted set: the names, in the order of their bytes
local documents = KEYS[3] -- hash: name -> '<version> <document>'
local name = ARGV[1] -- text: the name

if not knows_layout(meta) then
  return redis.error_reply('LAYOUT ' .. redis.call('HGET', meta, 'layout'))
end
redis.call('ZREM', names, name)
if redis.call('HDEL', documents, name) == 1 then
  if redis.call('EXISTS', documents) == 0 then
    redis.call('DEL', meta)
  end
  return { 'removed' }
end
return { 'absent' }
