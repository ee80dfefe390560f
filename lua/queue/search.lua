--[[
Scans the jobs of the queue, a part of them a call, for those of a name or a state; empty: any. `next` is the cursor for
the following call, '0' after the last part. A job that exists all the time is found, perhaps twice.

@returns page  now_ms:integer next:text jobs:[number:integer id:text name:text state:text attempts:integer token:integer at_ms:integer priority:integer max_attempts:integer max_run_ms:integer group:text unique:text trace:text tags:text bytes:integer payload:bytes failed_at_ms:integer failure:text message:text progress:bytes result:bytes? tracked:flag]
@cost    O(looked), about, and slightly more than 4 MiB of job data
@reads
]]
local codec = ARGV[1] -- text: name of the codec that made the payloads
local after = ARGV[2] -- text: the cursor; 0: from the start
local looked = tonumber(ARGV[3]) -- integer: how many entries to look at, about; fewer where they are large
local name = ARGV[4] -- text: the name
local state = ARGV[5] -- text: as in get

local queue = try(open_queue(keys.meta, codec))
-- After a restart or a failover the scan starts over: a job may be found twice.
local reported, cursor, bytes, left = {}, cursor_of(after) or '0', 0, looked

-- The number of entries to look at next: few at first, because their size is known only after the server has read them.
local function next_step(step)
  local seen = looked - left
  local mean = seen > 0 and math.max(1, bytes / seen) or 1
  return math.min(2 * step, left, math.floor((CALL_BYTES - bytes) / mean))
end

local function look_at(seq, record)
  local job = read_job(record, queue.usual)
  local packed = redis.call('HGET', keys.jobs, 'r' .. seq)
  local run = packed and unpack_run(packed)
  if (name == '' or job.name == name) and (state == '' or state_of(run) == state) then
    bytes = bytes + report_job(reported, keys.jobs, seq, record, run, queue.usual)
  end
end

local step = math.min(2, looked)
while step > 0 do
  local scanned = redis.call('HSCAN', keys.jobs, cursor, 'COUNT', string.format('%d', step))
  local fields = scanned[2]
  for at = 1, #fields, 2 do
    bytes = bytes + #fields[at + 1]
    -- Other entries of a job begin with a letter.
    if string.find(fields[at], '^%d') then
      look_at(fields[at], fields[at + 1])
    end
  end
  cursor, left = scanned[1], left - math.max(step, #fields / 2)
  step = cursor ~= '0' and next_step(step) or 0
end
return { 'page', math.floor(clock_us() / 1000), place_of(cursor), reported }
