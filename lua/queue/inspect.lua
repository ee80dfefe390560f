--[[
A picture of the queue. Jobs that are due, or whose lease has ended, count where they stood: `overdue` tells how many.
`bytes` of the jobs in each state.

@returns inspection  now_ms:integer began_ms:integer codec:text paused:flag concurrency:integer rate_limit:integer rate_window_ms:integer keep_count:integer keep_ms:integer ready:integer scheduled:integer claimed:integer dead:integer done:integer overdue:integer groups:integer idle:integer enqueued:integer acked:integer retried:integer buried:integer reclaimed:integer cancelled:integer ready_bytes:integer scheduled_bytes:integer claimed_bytes:integer dead_bytes:integer done_bytes:integer oldest_ms:integer blocked:integer blocked_bytes:integer outbox:integer rate_burst:integer
@cost    O(log n)
@reads
]]
local meta = KEYS[1] -- hash: the queue's state
local ready = KEYS[2] -- list: ready jobs without group and priority
local prioritized = KEYS[3] -- sorted set: ready jobs with a priority -> the lower the sooner
local scheduled = KEYS[4] -- sorted set: jobs that wait for their time -> that time, in ms
local leases = KEYS[5] -- sorted set: claimed jobs -> when the lease ends, in ms
local grouped = KEYS[6] -- sorted set: ready jobs of groups -> number of the group
local groups = KEYS[7] -- hash: the groups
local dead = KEYS[8] -- sorted set: dead jobs -> when they died, in ms
local done = KEYS[9] -- sorted set: jobs that are done and kept -> when they ended, in ms
local blocked = KEYS[10] -- sorted set: jobs that wait for their parents -> their number
local outbox = KEYS[11] -- sorted set: what goes to other queues -> its number
local codec = ARGV[1] -- text: name of the codec that made the payloads

local queue = open_queue(meta, codec, '')
if queue.layout ~= QUEUE_LAYOUT then
  return redis.error_reply('LAYOUT ' .. queue.layout)
end
if queue.codec ~= codec then
  return redis.error_reply('CODEC ' .. queue.codec)
end
local settings = parse_settings(queue.settings)
local bursts = redis.call('HGET', groups, GROUP_BURST)
local now_ms = math.floor(clock_us() / 1000)
local listed = math.max(0, redis.call('LLEN', ready) - queue.ghosts)
local oldest = listed > 0 and redis.call('LINDEX', ready, '0')
local overdue = redis.call('ZCOUNT', scheduled, '-inf', now_ms) + redis.call('ZCOUNT', leases, '-inf', now_ms)
return {
  'inspection',
  now_ms,
  math.floor(queue.began_us / 1000),
  queue.codec,
  settings.paused and 1 or 0,
  settings.concurrency,
  settings.rate_limit,
  settings.rate_window_ms,
  settings.keep_count,
  settings.keep_ms,
  listed + redis.call('ZCARD', prioritized) + redis.call('ZCARD', grouped),
  redis.call('ZCARD', scheduled),
  redis.call('ZCOUNT', leases, '-inf', '(+inf'),
  redis.call('ZCARD', dead),
  redis.call('ZCARD', done),
  overdue,
  redis.call('HLEN', groups) - (bursts and bursts + 1 or 0),
  queue.idle,
  queue.enqueued,
  queue.acked,
  queue.retried,
  queue.buried,
  queue.reclaimed,
  queue.cancelled,
  queue.ready,
  queue.scheduled,
  queue.claimed,
  queue.dead,
  queue.done,
  oldest and math.floor(oldest / 1000) or 0,
  redis.call('ZCARD', blocked),
  queue.blocked,
  redis.call('ZCARD', outbox),
  read_burst(meta, 'burst', settings),
}
