--[[
Lets one more reader in, or puts the attempt in line. Consecutive readers in line are let in together. A new reader
queues after any waiter, so that a writer never starves. Safe to repeat, as `acquire`. `more`: others are first, and
more of them than one call looks at; call `serve`.

@returns granted  token:integer expires_at_ms:integer now_ms:integer
@returns held     retry_after_ms:integer more:flag
@returns queued   position:integer recheck_ms:integer more:flag now_ms:integer
@cost    O(log n), and at most 1,000 removals of leases that have ended and 500 of dead waiters
]]
local id = ARGV[1] -- text: the attempt, '<process>.<number>'
local holder = ARGV[2] -- text: name of its holder, for people
local lease_ms = tonumber(ARGV[3]) -- integer: length of the lease
local channel = ARGV[4] -- text: prefix of the channels of processes
local waits = ARGV[5] == '1' -- flag: whether the attempt queues when it cannot enter
local listens = ARGV[6] == '1' -- flag: whether its process listens on its channel
local claim_ms = tonumber(ARGV[7] or 1000) -- integer: how long waiters have to confirm a hand-off
local sharded = ARGV[8] == '1' -- flag: whether to use sharded channels
local counted = ARGV[9] ~= '0' -- flag: whether a channel without listeners means that its process is dead
local confirms = ARGV[10] == '1' -- flag: whether it accepts an offer, for the whole lease

local lock = try(open_lock(redis.call('GET', keys.state), clock_us()))
local now_ms = lock.now_ms
local known, ends_at_ms, ended = reading_of(keys, lock, id)
if known then
  if confirms then
    ends_at_ms = confirm_reader(keys, lock, string.format('%.0f', known), ends_at_ms, lease_ms)
    save_freed_lock(keys.state, lock)
  end
  return { 'granted', known, ends_at_ms, now_ms }
end
count_readers(keys, lock)
lapse(lock)

lock.claim_ms, lock.how = claim_ms, { channel = channel, sharded = sharded, counted = counted }
local ticket = new_ticket(id, 's', lease_ms, listens, 1, holder)
local own = confirms and keep_place(keys, ticket) or format_ticket(ticket)
local served = 'none'
if lock.last_ticket > 0 and lock.mode ~= 'x' then
  served = serve_shared(keys, lock, own)
end
-- A called waiter has left the line, and goes before all that are in it.
local is_awaited = is_free(lock) and is_called(lock.called, now_ms)
local fits = lock.mode ~= 'x' and not is_awaited and (served == 'own' or lock.last_ticket == 0)
if fits then
  if not is_called(lock.called, now_ms) then
    lock.called = '0'
  end
  -- Before the grant: where the right is missing, nothing is granted.
  if served == 'own' then
    redis.call('ZREM', keys.queue, own)
  end
  local expires_at_ms = add_reader(keys, lock, ticket, lease_ms)
  if served == 'own' then
    serve_shared(keys, lock, '')
  end
  local token = tonumber(redis.call('HGET', keys.reader_ids, 'i' .. id))
  save_reader(keys, lock)
  if ended then
    forget_reader(keys, ended)
  end
  return { 'granted', token, expires_at_ms, now_ms }
end
-- The attempt may just have been let in with those before it.
known, ends_at_ms = reading_of(keys, lock, id)
if known then
  save_lock(keys.state, lock)
  return { 'granted', known, ends_at_ms, now_ms }
end
local more = served == 'more' and 1 or 0
-- The time that a called waiter has to come.
local recheck_ms = is_free(lock) and claim_ms or lock.expires_at_ms - now_ms
local place = 0
if waits then
  lock.last_ticket, place = stand_in_line(keys, lock, own)
  -- It did not take what it was offered, and asks now: it is not to be sent back for that later.
  if ended then
    forget_reader(keys, ended)
  end
end
save_lock(keys.state, lock)
if waits then
  return { 'queued', place, place == 0 and recheck_ms or 0, more, now_ms }
end
return { 'held', recheck_ms, more }
