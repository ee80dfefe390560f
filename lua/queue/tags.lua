--[[
The tags of the jobs of the queue, in the order of their bytes, with how many jobs have each; `next` is the last one, for the
call that goes on, and empty at the end.

@returns tags  next:text tags:[tag:text count:integer]
@cost    O(limit x log n)
@reads
]]
local meta = KEYS[1] -- hash: the queue's state
local tagged = KEYS[2] -- sorted set: '<tag>\0<job>' of each tag of a job, without score; tracked jobs have an empty one
local after = ARGV[1] -- text: the marker; empty: from the start
local limit = tonumber(ARGV[2]) -- integer: how many at most

local queue = open_queue(meta, '', '')
if queue.layout ~= QUEUE_LAYOUT then
  return redis.error_reply('LAYOUT ' .. queue.layout)
end
local told, last = {}, after
for _ = 1, limit do
  local member = redis.call('ZRANGEBYLEX', tagged, '(' .. last .. '\1', '+', 'LIMIT', '0', '1')[1]
  if not member then
    return { 'tags', '', told }
  end
  last = string.match(member, '^(.*)%z%d+$')
  told[#told + 1] = last
  told[#told + 1] = redis.call('ZLEXCOUNT', tagged, '[' .. last .. '\0', '(' .. last .. '\1')
end
return { 'tags', last, told }
