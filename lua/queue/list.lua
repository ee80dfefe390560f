--[[
Lists jobs of a state, from place `after` on. Ready jobs (without group) are in the order of claims except for their
priority; scheduled, blocked, claimed, dead and done ones are ordered by their time, and `grouped` ones by group. `next`
is the place after the last job it looked at, or -1 at the end. Places shift when jobs are added or removed.

@returns page  now_ms:integer next:integer jobs:[number:integer id:text name:text state:text attempts:integer token:integer at_ms:integer priority:integer max_attempts:integer max_run_ms:integer group:text unique:text trace:text tags:text bytes:integer payload:bytes failed_at_ms:integer failure:text message:text progress:bytes result:bytes? tracked:flag]
@cost    O(limit x log n), and 4 MiB of payloads
@reads
]]
local codec = ARGV[1] -- text: name of the codec that made the payloads
local state = ARGV[2] -- text: ready, prioritized, grouped, scheduled, blocked, claimed, dead or done
local after = tonumber(ARGV[3]) -- integer: how many to skip
local limit = tonumber(ARGV[4]) -- integer: how many to look at

local queue = try(open_queue(keys.meta, codec))
local from, to = string.format('%.0f', after), string.format('%.0f', after + limit - 1)
local numbers
local in_front = 0
if state == 'ready' then
  numbers, in_front = ready_page(keys, after, limit)
elseif state == 'prioritized' then
  numbers = redis.call('ZRANGE', keys.prioritized, from, to)
elseif state == 'grouped' then
  numbers = redis.call('ZRANGE', keys.grouped, from, to)
  for at, member in ipairs(numbers) do
    numbers[at] = string.sub(member, 11)
  end
elseif state == 'scheduled' then
  numbers = redis.call('ZRANGE', keys.scheduled, from, to)
elseif state == 'blocked' then
  numbers = redis.call('ZRANGE', keys.blocked, from, to)
elseif state == 'claimed' then
  numbers = redis.call('ZRANGE', keys.leases, from, to)
elseif state == 'dead' then
  numbers = redis.call('ZRANGE', keys.dead, from, to)
elseif state == 'done' then
  numbers = redis.call('ZRANGE', keys.done, from, to)
else
  return redis.error_reply(
    'INVALID state: ready, prioritized, grouped, scheduled, blocked, claimed, dead or done'
  )
end
local reported, seen, came_back = {}, {}, {}
for at = 1, in_front do
  came_back[numbers[at]] = true
end
-- A ghost is reported in its present place, and a job that came back in its first one.
local looked = report_page(reported, keys.jobs, numbers, queue.usual, function(seq, record, run)
  if state ~= 'ready' and state ~= 'prioritized' then
    return true
  end
  local job = read_job(record, queue.usual)
  if (job.priority == 0) ~= (state == 'ready') or seen[seq] then
    return false
  elseif state == 'ready' and not (came_back[seq] or stands_listed(keys.prioritized, job, run, seq)) then
    return false
  end
  seen[seq] = true
  return true
end)
local is_end = looked == #numbers and #numbers < limit
local next_place = is_end and -1 or after + looked
return { 'page', math.floor(clock_us() / 1000), next_place, reported }
