--[[
Sets the limits of a group of jobs; -1 leaves a number as it is. After a change of the rate, the used starts stay used.
Safe to repeat.

@returns configured  paused:flag concurrency:integer rate_limit:integer rate_window_ms:integer ready:integer claimed:integer rate_burst:integer
@returns unagreed
@cost    O(log n + groups in the ring)
]]
local codec = ARGV[1] -- text: name of the codec that made the payloads
local spread = ARGV[2] -- PARTITIONS: number of partitions of the queue
local how = ARGV[4] -- HOW: how waiters are notified
local name = ARGV[7] -- text: the group
local limits = ARGV[8] -- LIMITS: the new limits
local rate_burst = tonumber(ARGV[12] or 0) -- integer: jobs to claim at once at most after a pause, if there is a rate; 0: as many as in a window

local queue = try(open_to_change(keys.meta, how, codec, spread.partitions))
if not take_up(keys.meta, queue, spread) then
  return { 'unagreed' }
end
local group = open_group(keys.groups, queue, name)
local before = rate_of(group)
set_limits(group, limits)
-- Setting a default begins no queue.
if queue.began_us > 0 or group.paused or group.concurrency > 0 or group.rate_limit > 0 then
  try_group(keys, queue, queue.began_us == 0 or rate_burst > 0)
  begin_queue(keys.meta, queue)
  if limits.rate_limit >= 0 then
    group.rate_burst = limits.rate_limit > 0 and rate_burst or 0
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
