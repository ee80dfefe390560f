--[[
Takes dependencies in other queues that are due for a check. Each is due again after `again_ms`, so that a process that
stops in between never blocks a job forever. A repeated call returns the same answer, and postpones nothing more.
`newest` is the newest job: later jobs are not included.

@returns asked  dependencies:[queue:text id:text] newest:integer
@cost    O(limit x log n)
]]
local call_id = ARGV[1] -- CALL_ID: of this call; see shared/calls
local limit = tonumber(ARGV[3]) -- integer: how many at most
local again_ms = tonumber(ARGV[4]) -- integer: time until they are due again

local queue, remembered = try(open_call(keys.meta, nil, call_id))

-- Dependencies that a call has postponed are due at exactly the time that it computed.
local from, till = '(0', string.format('%.0f', queue.now_ms)
if remembered then
  from, till = remembered, remembered
end
local refs = redis.call('ZRANGEBYSCORE', keys.parents, from, till, 'LIMIT', '0', limit)
local asked, again = {}, string.format('%.0f', queue.now_ms + again_ms)
for _, ref in ipairs(refs) do
  local name, id = string.match(ref, '^q(.*)\1(.*)$')
  asked[#asked + 1] = name
  asked[#asked + 1] = id
  if not remembered then
    redis.call('ZADD', keys.parents, again, ref)
  end
end
if remembered then
  return { 'asked', asked, queue.last }
end
if #refs < limit and has_flag(queue.chores, CHORES.ask_after) then
  queue.chores = queue.chores - CHORES.ask_after
end
if #refs > 0 then
  note_due(queue, queue.now_ms + again_ms)
end
save_queue_and_call(keys.meta, queue, call_id, again)
return { 'asked', asked, queue.last }
