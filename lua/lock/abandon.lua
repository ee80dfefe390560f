--[[
Ends an attempt that its owner gave up: it leaves the line, or loses the lock. Then the first waiter in line is
notified.

@returns abandoned  more:flag
@cost    O(log waiting), and at most 500 removals of dead waiters
]]
local id = ARGV[1] -- text: the attempt, '<process>.<number>'
local holder = ARGV[2] -- text: name of its holder, for people
local lease_ms = tonumber(ARGV[3]) -- integer: length of the lease that it asked for
local channel = ARGV[4] -- text: prefix of the channels of processes
local listens = ARGV[5] == '1' -- flag: whether its process listens on its channel
local barging = ARGV[6] == '1' -- flag: whether it may pass waiters
local claim_ms = tonumber(ARGV[7] or 1000) -- integer: how long the next holder has to confirm a hand-off
local sharded = ARGV[8] == '1' -- flag: whether to use sharded channels
local counted = ARGV[9] ~= '0' -- flag: whether a channel without listeners means that its process is dead

local lock = try(open_lock(redis.call('GET', keys.state), clock_us()))
lock.claim_ms, lock.how = claim_ms, { channel = channel, sharded = sharded, counted = counted }
local ticket = new_ticket(id, barging and 'b' or 'x', lease_ms, listens, 1, holder)
local gave = lock.id == id and lock.mode == 'x' and is_held(lock)
if gave then
  lock.mode = '-'
  lock.expires_at_ms = 0
end
lapse(lock)
local called = called_id(lock.called) == id
lock.called = called and '0' or lock.called
-- Before the ticket is removed: where that right is missing, the lock is free all the same.
if gave and lock.last_ticket > 0 then
  save_freed_lock(keys.state, lock)
end
local left = lock.last_ticket > 0
  and redis.call('ZREM', keys.queue, format_ticket(ticket), other_text(ticket)) > 0
local served
if is_free(lock) and lock.last_ticket > 0 then
  served = serve(keys, lock, '')
elseif left and not call_first(keys, lock, lock.expires_at_ms - lock.now_ms) then
  lock.last_ticket = 0
elseif left and lock.mode == 's' then
  local first = first_ticket(keys)
  -- No waiting writer is before these readers any more.
  served = first and first.kind == 's' and 'more'
end
if left or gave or served or called then
  save_freed_lock(keys.state, lock)
end
return { 'abandoned', served == 'more' and 1 or 0 }
