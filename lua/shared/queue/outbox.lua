-- What goes to other queues, which this script cannot reach: `outbox` has the numbers, rising, and the hash of jobs under
-- 'x' and the number '<queue><what>', where `what` is 'e' and the end of a parent, or 'j' and a job; see shared/queue/spec.
-- Some process brings it there, and says when that is done.

local function put_out(keys, queue, target, what, now_us)
  queue.sent = math.max(queue.sent + 1, now_us)
  local number = string.format('%.0f', queue.sent)
  redis.call('HSET', keys.jobs, 'x' .. number, struct.pack('>Hc0', #target, target) .. what)
  redis.call('ZADD', keys.outbox, number, number)
  queue.chores = with_flag(queue.chores, DELIVER)
end
