--[[
Grants the lock to one holder, or puts the attempt in line. Safe to repeat: an attempt that holds the lock, or is in
line, gets the same answer again. When the lock is free and others wait, the first of them gets it, unless the attempt
is `barging`. A lock handed to a waiter that waited longer than a moment is offered for `claim_ms`: the waiter calls
again, with `confirms`, and holds it for its lease. `more`: the lock is free and others are first; call `serve`.

@returns granted  token:integer expires_at_ms:integer now_ms:integer
@returns held     retry_after_ms:integer more:flag
@returns queued   position:integer recheck_ms:integer more:flag now_ms:integer
@cost    O(log waiting), and at most 500 removals of dead waiters
]]
local id = ARGV[1] -- text: the attempt, '<process>.<number>'
local holder = ARGV[2] -- text: name of its holder, for people
local lease_ms = tonumber(ARGV[3]) -- integer: length of the lease
local channel = ARGV[4] -- text: prefix of the channels of processes
local waits = ARGV[5] == '1' -- flag: whether the attempt queues when the lock is not free
local listens = ARGV[6] == '1' -- flag: whether its process listens on its channel
local barging = ARGV[7] == '1' -- flag: whether it may pass waiters
local claim_ms = tonumber(ARGV[8] or 1000) -- integer: how long waiters have to confirm a hand-off
local sharded = ARGV[9] == '1' -- flag: whether to use sharded channels
local counted = ARGV[10] ~= '0' -- flag: whether a channel without listeners means that its process is dead
local confirms = ARGV[11] == '1' -- flag: whether it accepts an offer, for the whole lease

local now_us = clock_us()
local now_ms = math.floor(now_us / 1000)
local stored = redis.call('GET', keys.state)
local last_token, line = free_token(stored, id, barging and not waits)
if last_token then
  local token = next_token(last_token, now_us)
  local expires_at_ms = now_ms + lease_ms
  local times = string.format('%.0f', token) .. ' ' .. expires_at_ms
  -- If the clock is behind the token, the lock is remembered until it has caught up.
  local left_ms = token > now_us and math.max(lease_ms, math.ceil((token - now_us) / 1000)) or lease_ms
  redis.call(
    'SET',
    keys.state,
    '1 x ' .. times .. ' ' .. line .. ' ' .. id .. ' ' .. holder,
    'PX',
    kept_ms_after(left_ms, line ~= '0 0')
  )
  return { 'granted', token, expires_at_ms, now_ms }
end

-- The lock is held or has waiters, or this attempt has called before.
local lock = try(open_lock(stored, now_us))
if lock.id == id and lock.mode == 'x' and is_held(lock) then
  if confirms then
    lock.expires_at_ms = math.max(lock.expires_at_ms, now_ms + lease_ms)
    save_freed_lock(keys.state, lock)
  end
  return { 'granted', tonumber(lock.token), lock.expires_at_ms, now_ms }
end
if lock.id == id and lock.mode == '-' then
  return redis.error_reply('INVALID id: this attempt has given the lock back')
end
lapse(lock)
local called = called_id(lock.called) == id and is_called(lock.called, now_ms)

local ticket = new_ticket(id, barging and 'b' or 'x', lease_ms, listens, 1, holder)
if is_free(lock) and lock.last_ticket == 0 then
  grant_to(lock, ticket)
  save_lock(keys.state, lock)
  return { 'granted', tonumber(lock.token), lock.expires_at_ms, now_ms }
end
local own = confirms and keep_place(keys, ticket) or format_ticket(ticket)
local served
if is_free(lock) then
  lock.claim_ms, lock.how = claim_ms, { channel = channel, sharded = sharded, counted = counted }
  if not barging then
    served = serve(keys, lock, own)
  end
  if barging or served == 'own' or served == 'none' then
    -- Before the grant: where the right is missing, nothing is granted.
    redis.call('ZREM', keys.queue, own)
    grant_to(lock, ticket)
    save_lock(keys.state, lock)
    call_behind(keys, lock, lease_ms)
    return { 'granted', tonumber(lock.token), lock.expires_at_ms, now_ms }
  end
end
local more = served == 'more' and 1 or 0
local recheck_ms = is_free(lock) and claim_ms or lock.expires_at_ms - now_ms
local stands_again = waits and called and not passes_by(lock)
if waits and called and not stands_again then
  lock.called = call_until(now_ms + claim_ms, id)
  save_lock(keys.state, lock)
  return { 'queued', 0, TRY_AGAIN_MS, more, now_ms }
end
if waits then
  if stands_again then
    lock.called = '0'
    stand_before_all(keys, lock, own)
  end
  local newest, place = stand_in_line(keys, lock, own)
  if newest ~= lock.last_ticket or served or stands_again then
    lock.last_ticket = newest
    save_lock(keys.state, lock)
  end
  if is_called(lock.called, now_ms) then
    recheck_ms = math.min(recheck_ms, claim_ms)
  end
  if barging then
    recheck_ms = math.min(recheck_ms, 2000)
  end
  -- An attempt near the front checks when an offer to another has ended.
  local looks = place == 0 or barging
  if confirms and place <= 3 and not looks then
    looks = is_free(lock) or lock.expires_at_ms - math.floor(lock.token / 1000) <= claim_ms
  end
  return { 'queued', place, looks and recheck_ms or 0, more, now_ms }
end
if served then
  save_lock(keys.state, lock)
end
return { 'held', recheck_ms, more }
