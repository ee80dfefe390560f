--[[
Removes everything of the queue, except its event listeners. Workers with claimed jobs lose them. Safe to repeat.

@returns cleared  existed:flag
@cost    O(keys); Redis frees the memory in the background
]]
local how = ARGV[1] -- HOW: how waiters are notified

try(refusal_of_spread(keys.meta))
-- The others poll.
local MOST_CALLED = 100
local waiting = { idle = redis.call('ZCARD', keys.idle) }
local existed = math.min(waiting.idle, 1)
for _ = 1, MOST_CALLED do
  local worker = pop_idle(keys.idle, waiting)
  if not worker then
    break
  end
  notify_idle(worker, how)
end
local all = {
  keys.jobs,
  keys.ready,
  keys.prioritized,
  keys.scheduled,
  keys.leases,
  keys.grouped,
  keys.groups,
  keys.turns,
  keys.held,
  keys.ids,
  keys.dead,
  keys.failed,
  keys.kinds,
  keys.done,
  keys.idle,
  keys.blocked,
  keys.children,
  keys.parents,
  keys.outbox,
  keys.inbox,
  keys.recurrences,
  keys.recurring,
  keys.short,
  keys.results,
  keys.tagged,
  keys.notes,
  keys.stats,
}
-- A queue that has only a state is none: it merely has listeners or waiters.
if redis.call('HEXISTS', keys.meta, 'codec') == 1 or redis.call('HEXISTS', keys.meta, 'state') == 0 then
  existed = math.max(existed, redis.call('EXISTS', keys.meta))
end
redis.call('UNLINK', keys.meta)
if redis.call('UNLINK', unpack(all)) > 0 then
  existed = 1
end
-- Listeners also hear later events.
if redis.call('EXISTS', keys.listeners) == 1 then
  local now_ms = math.floor(clock_us() / 1000)
  local _, last_ms = look_at_listeners(keys.listeners, '', now_ms)
  if last_ms > now_ms then
    publish(keys.listeners, { { 'cleared', '0', '', '', 0, 0, 0, '' } }, now_ms)
    local queue = read_queue(keys.meta, '', '')
    queue.listened_ms = last_ms
    save_queue(keys.meta, queue)
  else
    redis.call('UNLINK', keys.listeners)
  end
end
return { 'cleared', existed }
