--[[
Jobs with a tag, or, where that is empty, those that somebody follows; the oldest first. Of a page those of another name or
state are left out (empty: any). `next` is the marker for the call that goes on, '0' at the end. A job that is there all the
time is found once.

@returns page  now_ms:integer next:text jobs:[number:integer id:text name:text state:text attempts:integer token:integer at_ms:integer priority:integer max_attempts:integer max_run_ms:integer group:text unique:text trace:text tags:text bytes:integer payload:bytes failed_at_ms:integer failure:text message:text progress:bytes result:bytes? tracked:flag]
@cost    O(log n + limit)
@reads
]]
local meta = KEYS[1] -- hash: the queue's state
local jobs = KEYS[2] -- hash: all that is stored of each job
local tagged = KEYS[3] -- sorted set: '<tag>\0<job>' of each tag of a job, without score; tracked jobs have an empty one
local codec = ARGV[1] -- text: name of the codec that made the payloads
local tag = ARGV[2] -- text: the tag
local after = ARGV[3] -- text: the marker; 0: from the start
local limit = tonumber(ARGV[4]) -- integer: how many to look at
local name = ARGV[5] -- text: the name
local state = ARGV[6] -- text: as in find

-- @include shared/clock
-- @include shared/queue/state
-- @include shared/queue/job
-- @include shared/queue/flags
-- @include shared/queue/run
-- @include shared/queue/failure
-- @include shared/queue/fields
-- @include shared/queue/find
-- @include shared/queue/tell-job

local queue = open_queue(meta, codec, '')
if queue.layout ~= QUEUE_LAYOUT then
  return redis.error_reply('LAYOUT ' .. queue.layout)
end
if queue.codec ~= codec then
  return redis.error_reply('CODEC ' .. queue.codec)
end
local from = after == '0' and '[' .. tag .. '\0' or '(' .. tag .. '\0' .. after
local numbers = redis.call('ZRANGEBYLEX', tagged, from, '(' .. tag .. '\1', 'LIMIT', '0', limit)
for at, member in ipairs(numbers) do
  numbers[at] = string.match(member, '%d+$')
end
local told = {}
if #numbers > 0 then
  local stored = redis.call('HMGET', jobs, unpack(fields_of(numbers)))
  for at, seq in ipairs(numbers) do
    local record, packed = stored[at * 2 - 1], stored[at * 2]
    local run = packed and unpack_run(packed)
    local named = name == '' or read_job(record, queue.usual).name == name
    if named and (state == '' or state_of(run) == state) then
      tell_job(told, jobs, seq, record, run, queue.usual)
    end
  end
end
local next_number = #numbers < limit and '0' or numbers[#numbers]
return { 'page', math.floor(clock_us() / 1000), next_number, told }
