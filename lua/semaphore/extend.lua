--[[
Renews permits of one semaphore. One that has ended is never revived: its `expires_at_ms` is 0.

@returns extended  now_ms:integer permits:[expires_at_ms:integer]
@cost    O(permits x log n)
]]
local leases, leases_at = ARGV, 1 -- repeated (token:integer lease_ms:integer): the leases

local semaphore = try(open_semaphore(keys.state, clock_us()))
local now_ms = semaphore.now_ms
local ends, any, soonest_moved, is_tried = {}, false, false, false
for at = leases_at, #leases, #LEASES do
  local ends_at_ms = tonumber(redis.call('ZSCORE', keys.permits, leases[at + LEASES.token]) or 0)
  local expires_at_ms = 0
  if ends_at_ms > now_ms then
    expires_at_ms = now_ms + leases[at + LEASES.lease_ms]
    if expires_at_ms < ends_at_ms and not is_tried then
      -- An extension that a missing right refuses must not have shortened a lease.
      look_ahead(keys, semaphore)
      save_freed_semaphore(keys, semaphore)
      is_tried = true
    end
    soonest_moved = soonest_moved or ends_at_ms == semaphore.soonest_end_ms
    semaphore.soonest_end_ms = math.min(semaphore.soonest_end_ms, expires_at_ms)
    if not any or expires_at_ms > semaphore.last_end_ms then
      semaphore.last_end_ms = math.max(semaphore.last_end_ms, expires_at_ms)
      -- Before ZADD, for a full server takes this as the first write.
      keep_permits(keys, semaphore)
    end
    redis.call('ZADD', keys.permits, 'XX', expires_at_ms, leases[at + LEASES.token])
    any = true
  end
  ends[#ends + 1] = expires_at_ms
end
if any then
  if soonest_moved then
    look_ahead(keys, semaphore)
  end
  save_freed_semaphore(keys, semaphore)
end
return { 'extended', now_ms, ends }
