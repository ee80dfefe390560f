--[[
Returns an overview of the queue. Jobs that are due, or whose lease has ended, count in their old state; `overdue` is
their number. `bytes` are those of the jobs in each state.

@returns inspection  now_ms:integer began_ms:integer codec:text paused:flag concurrency:integer rate_limit:integer rate_window_ms:integer retention_count:integer retention_ms:integer ready:integer scheduled:integer claimed:integer dead:integer done:integer overdue:integer groups:integer idle:integer enqueued:integer acked:integer retried:integer failed:integer reclaimed:integer cancelled:integer ready_bytes:integer scheduled_bytes:integer claimed_bytes:integer dead_bytes:integer done_bytes:integer oldest_ms:integer blocked:integer blocked_bytes:integer outbox:integer rate_burst:integer
@cost    O(log n)
@reads
]]
local codec = ARGV[1] -- text: name of the codec that made the payloads

local queue = try(open_queue(keys.meta, codec))
local settings = parse_settings(queue.settings)
local bursts = redis.call('HGET', keys.groups, GROUP_BURST)
local now_ms = math.floor(clock_us() / 1000)
local listed = math.max(0, redis.call('LLEN', keys.ready) - queue.ghosts)
local oldest = listed > 0 and redis.call('LINDEX', keys.ready, '0')
local overdue = redis.call('ZCOUNT', keys.scheduled, '-inf', now_ms)
  + redis.call('ZCOUNT', keys.leases, '-inf', now_ms)
return {
  'inspection',
  now_ms,
  math.floor(queue.began_us / 1000),
  queue.codec,
  settings.paused and 1 or 0,
  settings.concurrency,
  settings.rate_limit,
  settings.rate_window_ms,
  settings.retention_count,
  settings.retention_ms,
  listed + redis.call('ZCARD', keys.prioritized) + redis.call('ZCARD', keys.grouped),
  redis.call('ZCARD', keys.scheduled),
  redis.call('ZCOUNT', keys.leases, '-inf', '(+inf'),
  redis.call('ZCARD', keys.dead),
  redis.call('ZCARD', keys.done),
  overdue,
  redis.call('HLEN', keys.groups) - (bursts and bursts + 1 or 0),
  queue.idle,
  queue.enqueued,
  queue.acked,
  queue.retried,
  queue.failed,
  queue.reclaimed,
  queue.cancelled,
  queue.ready,
  queue.scheduled,
  queue.claimed,
  queue.dead,
  queue.done,
  oldest and math.floor(oldest / 1000) or 0,
  redis.call('ZCARD', keys.blocked),
  queue.blocked,
  redis.call('ZCARD', keys.outbox),
  read_burst(keys.meta, 'burst', settings),
}
