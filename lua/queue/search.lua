--[[
Looks through the jobs of the queue, a part of them a call, for those of a name or a state; empty: any. `next` is the
marker for the call that goes on, '0' when all were looked at. A job that is there all the time is found, perhaps twice.

@returns page  now_ms:integer next:text jobs:[number:integer id:text name:text state:text attempts:integer token:integer at_ms:integer priority:integer max_attempts:integer max_run_ms:integer group:text unique:text trace:text tags:text bytes:integer payload:bytes failed_at_ms:integer failure:text message:text progress:bytes result:bytes? tracked:flag]
@cost    O(looked), about
@reads
]]
local meta = KEYS[1] -- hash: the queue's state
local jobs = KEYS[2] -- hash: all that is stored of each job
local codec = ARGV[1] -- text: name of the codec that made the payloads
local after = ARGV[2] -- text: the marker; 0: from the start
local looked = tonumber(ARGV[3]) -- integer: how many entries to look at, about; fewer where they are large
local name = ARGV[4] -- text: the name
local state = ARGV[5] -- text: as in find

-- @include shared/clock
-- @include shared/queue/state
-- @include shared/queue/job
-- @include shared/queue/body
-- @include shared/queue/flags
-- @include shared/queue/run
-- @include shared/queue/failure
-- @include shared/queue/find
-- @include shared/queue/tell-job

local queue = open_queue(meta, codec, '')
if queue.layout ~= QUEUE_LAYOUT then
  return redis.error_reply('LAYOUT ' .. queue.layout)
end
if queue.codec ~= codec then
  return redis.error_reply('CODEC ' .. queue.codec)
end
-- Fewer where jobs are large: the server reads all that is stored of each.
local stored_bytes = queue.ready + queue.scheduled + queue.blocked + queue.claimed + queue.dead + queue.done
local mean_bytes = math.max(1, stored_bytes / math.max(1, redis.call('HLEN', jobs)))
local fits = math.max(1, math.min(looked, math.floor(CALL_BYTES / mean_bytes)))
local scanned = redis.call('HSCAN', jobs, after, 'COUNT', string.format('%d', fits))
local fields, told = scanned[2], {}
for at = 1, #fields, 2 do
  local seq = fields[at]
  -- Other entries of a job begin with a letter.
  if string.find(seq, '^%d') then
    local record = fields[at + 1]
    local job = read_job(record, queue.usual)
    local packed = redis.call('HGET', jobs, 'r' .. seq)
    local run = packed and unpack_run(packed)
    local named = name == '' or job.name == name
    if named and (state == '' or state_of(run) == state) then
      tell_job(told, jobs, seq, record, run, queue.usual)
    end
  end
end
return { 'page', math.floor(clock_us() / 1000), scanned[1], told }
