--[[
Renews leases of readers of one lock. A lease that has ended is never revived: its `expires_at_ms` is 0.

@returns extended  now_ms:integer leases:[expires_at_ms:integer]
@cost    O(leases x log n)
]]
local leases, leases_at = ARGV, 1 -- repeated (token:integer lease_ms:integer): the leases

local lock = try(open_lock(redis.call('GET', keys.state), clock_us()))
local now_ms = lock.now_ms
local ends, any, is_tried = {}, false, false
for at = leases_at, #leases, #LEASES do
  local expires_at_ms = 0
  local ends_at_ms = tonumber(redis.call('ZSCORE', keys.readers, leases[at + LEASES.token]) or 0)
  if lock.mode == 's' and ends_at_ms > now_ms then
    expires_at_ms = now_ms + leases[at + LEASES.lease_ms]
    if expires_at_ms < ends_at_ms and not is_tried then
      -- An extension that a missing right refuses must not have shortened a lease.
      redis.call('ZRANGE', keys.readers, '-1', '-1', 'WITHSCORES')
      save_freed_lock(keys.state, lock)
      is_tried = true
    end
    redis.call('PEXPIRE', keys.readers, lock_kept_ms(lock))
    redis.call('ZADD', keys.readers, 'XX', expires_at_ms, leases[at + LEASES.token])
    any = true
  end
  ends[#ends + 1] = expires_at_ms
end
if any then
  lock.expires_at_ms = tonumber(redis.call('ZRANGE', keys.readers, '-1', '-1', 'WITHSCORES')[2])
  save_freed_lock(keys.state, lock)
  redis.call('PEXPIRE', keys.readers, lock_kept_ms(lock))
  redis.call('PEXPIRE', keys.reader_ids, lock_kept_ms(lock))
end
return { 'extended', now_ms, ends }
