--[[
Sets the limits of the whole queue; -1 leaves a number as it is. A paused queue hands out no jobs; claimed ones
continue. After a change of the rate, the used starts stay used. Waiting workers are woken when the queue resumes, or
its limits rise. Safe to repeat.

@returns configured  paused:flag concurrency:integer rate_limit:integer rate_window_ms:integer retention_count:integer retention_ms:integer rate_burst:integer
@returns unagreed
@cost    O(log n)
]]
local codec = ARGV[1] -- text: name of the codec that made the payloads
local spread = ARGV[2] -- PARTITIONS: number of partitions of the queue
local how = ARGV[4] -- HOW: how waiters are notified
local limits = ARGV[7] -- LIMITS: the new limits
local retention_count = tonumber(ARGV[11]) -- integer: done jobs to keep; 0: no bound by number
local retention_ms = tonumber(ARGV[12]) -- integer: age up to which done jobs are kept; 0: no bound by age; both 0: none are kept
local rate_burst = tonumber(ARGV[13] or 0) -- integer: jobs to claim at once at most after a pause, if there is a rate; 0: as many as in a window

local queue = try(open_to_change(keys.meta, how, codec, spread.partitions))
if not take_up(keys.meta, queue, spread) then
  return { 'unagreed' }
end
local settings = parse_settings(queue.settings)
settings.rate_burst = read_burst(keys.meta, 'burst', settings)
local before, resumes = rate_of(settings), limits.paused == 0 and settings.paused
set_limits(settings, limits)
if limits.rate_limit >= 0 then
  settings.rate_burst = limits.rate_limit > 0 and rate_burst or 0
end
settings.retention_count = pick(retention_count, settings.retention_count)
settings.retention_ms = pick(retention_ms, settings.retention_ms)
local text = format_settings(settings)
-- Setting defaults begins no queue.
if queue.began_us > 0 or text ~= format_settings(parse_settings()) then
  begin_queue(keys.meta, queue)
  if resumes then
    -- A paused queue spawns no recurring jobs.
    note_due(queue, queue.now_ms)
  end
  redis.call('HSET', keys.meta, 'codec', codec) -- as it is; see shared/queue/state
  keep_burst(keys.meta, 'burst', settings)
  redis.call('HSET', keys.meta, 'settings', text)
  queue.arrival_us = arrival_by(settings, queue.arrival_us, before, queue.now_us)
  if not settings.paused and queue.idle > 0 then
    call_idle(keys.idle, queue, 1)
  end
  save_queue(keys.meta, queue)
end
return {
  'configured',
  settings.paused and 1 or 0,
  settings.concurrency,
  settings.rate_limit,
  settings.rate_window_ms,
  settings.retention_count,
  settings.retention_ms,
  settings.rate_burst,
}
