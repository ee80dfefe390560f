--[[
Takes parents in other queues that are to be asked after now. They are asked after again after `again_ms`, so that a
process that stops in between holds up nothing. Safe to repeat.

@returns asked  parents:[queue:text id:text]
@cost    O(limit x log n)
]]
local meta = KEYS[1] -- hash: the queue's state
local parents = KEYS[2] -- sorted set: ref of a parent -> 0: it has ended; else when to ask after it, in ms
local limit = tonumber(ARGV[1]) -- integer: how many at most
local again_ms = tonumber(ARGV[2]) -- integer: how long until they are asked after again

-- @include shared/clock
-- @include shared/queue/state
-- @include shared/queue/save
-- @include shared/queue/flags
-- @include shared/queue/note-due

local queue = open_queue(meta, '', '')
if queue.layout ~= QUEUE_LAYOUT then
  return redis.error_reply('LAYOUT ' .. queue.layout)
end

local now_ms = math.floor(clock_us() / 1000)
local refs = redis.call('ZRANGEBYSCORE', parents, '(0', now_ms, 'LIMIT', '0', limit)
local asked = {}
for _, ref in ipairs(refs) do
  redis.call('ZADD', parents, string.format('%.0f', now_ms + again_ms), ref)
  local name, id = string.match(ref, '^q(.*)\1(.*)$')
  asked[#asked + 1] = name
  asked[#asked + 1] = id
end
if #refs < limit and has_flag(queue.chores, ASK_AFTER) then
  queue.chores = queue.chores - ASK_AFTER
end
if #refs > 0 then
  note_due(queue, now_ms + again_ms)
end
save_queue(meta, queue)
return { 'asked', asked }
