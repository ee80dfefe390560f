--[[
Sets what holds for a group of jobs; -1 leaves a number as it is. By another rate as many starts are used up as before. Safe to
repeat.

@returns configured  paused:flag concurrency:integer rate_limit:integer rate_window_ms:integer ready:integer claimed:integer rate_burst:integer
@returns unagreed
@cost    O(log n + groups in the ring)
]]
local codec = ARGV[1] -- text: name of the codec that made the payloads
local partitions = tonumber(ARGV[2]) -- integer: over how many the queue is spread; 0: it is not
local proof = ARGV[3] -- text: what propose answered, where the partition is not agreed upon yet; else empty
local channel = ARGV[4] -- text: beginning of the channels of processes
local sharded = ARGV[5] == '1' -- flag: whether those are sharded channels
local counted = ARGV[6] == '1' -- flag: whether the number of those who hear tells who is gone
local name = ARGV[7] -- text: the group
local paused = tonumber(ARGV[8]) -- integer: 1: gives out no job; 0: does
local concurrency = tonumber(ARGV[9]) -- integer: jobs claimed at once; 0: any number
local rate_limit = tonumber(ARGV[10]) -- integer: jobs claimed in a window; 0: any number
local rate_window_ms = tonumber(ARGV[11]) -- integer: the window
local rate_burst = tonumber(ARGV[12] or 0) -- integer: jobs that may be claimed at once if they were saved up, where a rate is set; 0: as many as in a window

local queue = try(open_queue(keys.meta, '', codec, partitions))
if queue.partitions ~= partitions and not take_up(keys.meta, partitions, proof) then
  return { 'unagreed' }
end
begin_call(queue, { channel = channel, sharded = sharded, counted = counted })
local group = open_group(keys.groups, queue, name)
if paused >= 0 then
  group.paused = paused == 1
end
group.concurrency = pick(concurrency, group.concurrency)
local before = rate_of(group)
group.rate_limit = pick(rate_limit, group.rate_limit)
group.rate_window_ms = pick(rate_window_ms, group.rate_window_ms)
-- What is as it is anyway begins no queue.
if queue.began_us > 0 or group.paused or group.concurrency > 0 or group.rate_limit > 0 then
  try_group(keys, queue, queue.began_us == 0 or rate_burst > 0)
  begin_queue(keys.meta, queue)
  if rate_limit >= 0 then
    group.rate_burst = rate_limit > 0 and rate_burst or 0
    local more = keep_burst(keys.groups, GROUP_BURST .. name, group)
    if more ~= 0 and redis.call('HINCRBY', keys.groups, GROUP_BURST, more) == 0 then
      redis.call('HDEL', keys.groups, GROUP_BURST)
    end
  end
  group.arrival_us = arrival_by(group, group.arrival_us, before, queue.now_us)
  if group.in_ring then
    redis.call('LREM', keys.turns, '0', name)
    group.in_ring = false
  end
  redis.call('ZREM', keys.held, name)
  place_group(keys, name, group, queue.now_us)
  if group.in_ring and queue.idle > 0 then
    call_idle(keys.idle, queue, 1)
  end
  save_queue(keys.meta, queue)
end
return {
  'configured',
  group.paused and 1 or 0,
  group.concurrency,
  group.rate_limit,
  group.rate_window_ms,
  group.ready,
  group.claimed,
  group.rate_burst,
}
