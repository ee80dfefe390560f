--[[
Sets what holds for the whole queue; -1 leaves a number as it is. A queue that is paused gives out no job; those that are
claimed go on. By another rate as many starts are used up as before. Whoever waits is woken when the queue goes on, or may do
more. Safe to repeat.

@returns configured  paused:flag concurrency:integer rate_limit:integer rate_window_ms:integer keep_count:integer keep_ms:integer rate_burst:integer
@returns unagreed
@cost    O(log n)
]]
local codec = ARGV[1] -- text: name of the codec that made the payloads
local partitions = tonumber(ARGV[2]) -- integer: over how many the queue is spread; 0: it is not
local proof = ARGV[3] -- text: what propose answered, where the partition is not agreed upon yet; else empty
local channel = ARGV[4] -- text: beginning of the channels of processes
local sharded = ARGV[5] == '1' -- flag: whether those are sharded channels
local counted = ARGV[6] == '1' -- flag: whether the number of those who hear tells who is gone
local paused = tonumber(ARGV[7]) -- integer: 1: gives out no job; 0: does
local concurrency = tonumber(ARGV[8]) -- integer: jobs claimed at once; 0: any number
local rate_limit = tonumber(ARGV[9]) -- integer: jobs claimed in a window; 0: any number
local rate_window_ms = tonumber(ARGV[10]) -- integer: the window
local keep_count = tonumber(ARGV[11]) -- integer: done jobs to keep; 0: see keep_ms
local keep_ms = tonumber(ARGV[12]) -- integer: age up to which done jobs are kept; 0: see keep_count; none are where both are 0
local rate_burst = tonumber(ARGV[13] or 0) -- integer: jobs that may be claimed at once if they were saved up, where a rate is set; 0: as many as in a window

local queue = try(open_queue(keys.meta, '', codec, partitions))
if queue.partitions ~= partitions and not take_up(keys.meta, partitions, proof) then
  return { 'unagreed' }
end
local settings = parse_settings(queue.settings)
settings.rate_burst = read_burst(keys.meta, 'burst', settings)
local before, resumes = rate_of(settings), paused == 0 and settings.paused
if paused >= 0 then
  settings.paused = paused == 1
end
settings.concurrency = pick(concurrency, settings.concurrency)
settings.rate_limit = pick(rate_limit, settings.rate_limit)
settings.rate_window_ms = pick(rate_window_ms, settings.rate_window_ms)
if rate_limit >= 0 then
  settings.rate_burst = rate_limit > 0 and rate_burst or 0
end
settings.keep_count = pick(keep_count, settings.keep_count)
settings.keep_ms = pick(keep_ms, settings.keep_ms)
begin_call(queue, { channel = channel, sharded = sharded, counted = counted })
local text = format_settings(settings)
-- What is as it is anyway begins no queue.
if queue.began_us > 0 or text ~= format_settings(parse_settings()) then
  begin_queue(keys.meta, queue)
  if resumes then
    -- A queue that is paused spawns no recurring jobs.
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
  settings.keep_count,
  settings.keep_ms,
  settings.rate_burst,
}
