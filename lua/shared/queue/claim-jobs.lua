-- Leases jobs that are ready, of which there is room for so many. Answers what is told of them, and of their options, how many they are,
-- their first token and when the leases end, and whether the caller comes again for others; nil without the right to lease.
local function claim_jobs(keys, queue, settings, room, now_us, lease_ms)
  local taken, is_cut = take_ready(keys, queue, room, now_us)
  local count = #taken / 3
  if count == 0 then
    leave_taken(keys, queue, taken)
    return {}, {}, 0, 0, 0, is_cut
  end
  local token = next_token(queue.token, now_us) - 1
  queue.token = token
  local told, options = lease_jobs(keys, queue, taken, now_us, lease_ms)
  if not told then
    -- A call that acks nothing is refused.
    if queue.over == 0 then
      redis.call('ZADD', keys.leases, 'XX', '0', '')
    end
    return nil
  end
  if settings.rate_limit > 0 then
    queue.arrival_us = arrival_after(queue.arrival_us, settings, now_us, count)
  end
  return told, options, count, token, math.floor(now_us / 1000) + lease_ms, is_cut
end
