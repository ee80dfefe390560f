--[[
Ends an attempt of a reader that its owner gave up: it leaves the line, or loses its lease. Then the first waiter in
line is notified.

@returns abandoned  more:flag
@cost    O(log n), and at most 1,000 removals of leases that have ended and 500 of dead waiters
]]
local id = ARGV[1] -- text: the attempt, '<process>.<number>'
local holder = ARGV[2] -- text: name of its holder, for people
local lease_ms = tonumber(ARGV[3]) -- integer: length of the lease that it asked for
local channel = ARGV[4] -- text: prefix of the channels of processes
local listens = ARGV[5] == '1' -- flag: whether its process listens on its channel
local claim_ms = tonumber(ARGV[6] or 1000) -- integer: how long the next holder has to confirm a hand-off
local sharded = ARGV[7] == '1' -- flag: whether to use sharded channels
local counted = ARGV[8] ~= '0' -- flag: whether a channel without listeners means that its process is dead

local lock = try(open_lock(redis.call('GET', keys.state), clock_us()))
local before = lock_text(lock)
lock.claim_ms, lock.how = claim_ms, { channel = channel, sharded = sharded, counted = counted }
local ticket = new_ticket(id, 's', lease_ms, listens, 1, holder)
local token = redis.call('HGET', keys.reader_ids, 'i' .. id)
if token then
  forget_reader(keys, token)
end
count_readers(keys, lock)
lapse(lock)
redis.call('ZREM', keys.queue, format_ticket(ticket), other_text(ticket))
local served
if lock.last_ticket > 0 and lock.mode ~= 'x' then
  served = serve_shared(keys, lock, '')
elseif lock.last_ticket > 0 and not call_first(keys, lock, lock.expires_at_ms - lock.now_ms) then
  lock.last_ticket = 0
end
if lock_text(lock) ~= before then
  save_freed_lock(keys.state, lock)
end
return { 'abandoned', served == 'more' and 1 or 0 }
