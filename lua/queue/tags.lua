--[[
Returns the tags of the jobs of the queue, in the order of their bytes, with how many jobs have each; `next` is the last
one, the cursor for the following call, and empty at the end.

@returns tags  next:text tags:[tag:text count:integer]
@cost    O(limit x log n)
@reads
]]
local after = ARGV[1] -- text: the cursor; empty: from the start
local limit = tonumber(ARGV[2]) -- integer: how many at most

try(open_queue(keys.meta))
local reported, last = {}, after
for _ = 1, limit do
  local member = redis.call('ZRANGEBYLEX', keys.tagged, '(' .. last .. '\1', '+', 'LIMIT', '0', '1')[1]
  if not member then
    return { 'tags', '', reported }
  end
  last = string.match(member, '^(.*)%z%d+$')
  reported[#reported + 1] = last
  reported[#reported + 1] = redis.call('ZLEXCOUNT', keys.tagged, '[' .. last .. '\0', '(' .. last .. '\1')
end
return { 'tags', last, reported }
