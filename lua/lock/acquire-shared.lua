--[[
Lets one more reader in, or puts the attempt in line. Readers who stand one behind the other are let in
together; whoever comes while somebody waits stands behind, so one who wants the lock alone is never starved.
Safe to repeat, as `acquire`. `more`: others are first, and more of them than one call looks at; call `serve`.

@returns granted  token:integer expires_at_ms:integer now_ms:integer
@returns held     retry_after_ms:integer more:flag
@returns queued   position:integer recheck_ms:integer more:flag now_ms:integer
@cost    O(log n), and at most 1,000 removals of leases that have ended and 500 of waiters that are gone
]]
local id = ARGV[1] -- text: the attempt, '<process>.<number>'
local holder = ARGV[2] -- text: what people call its holder
local lease_ms = tonumber(ARGV[3]) -- integer: how long it is granted
local channel = ARGV[4] -- text: beginning of the channels of processes
local waits = ARGV[5] == '1' -- flag: whether the attempt stands in line when it cannot be let in
local listens = ARGV[6] == '1' -- flag: whether its process listens on its channel
local claim_ms = tonumber(ARGV[7] or 1000) -- integer: how long others have to confirm what they get now
local sharded = ARGV[8] == '1' -- flag: whether those are sharded channels
local counted = ARGV[9] ~= '0' -- flag: whether the number of those who hear tells who is gone
local confirms = ARGV[10] == '1' -- flag: whether it takes for the whole lease what it was offered

local lock = try(open_lock(redis.call('GET', keys.state)))
local now_us = clock_us()
local now_ms = math.floor(now_us / 1000)
local known, ends_at_ms, ended = reading_of(lock, keys.readers, keys.reader_ids, id, now_ms)
if known then
  if confirms then
    ends_at_ms = confirm_reader(
      lock,
      keys.readers,
      keys.reader_ids,
      string.format('%.0f', known),
      ends_at_ms,
      lease_ms,
      now_ms
    )
    save_freed_lock(keys.state, lock, now_ms)
  end
  return { 'granted', known, ends_at_ms, now_ms }
end
count_readers(lock, keys.readers, keys.reader_ids, now_ms)
lapse(lock, now_ms)

local how = { channel = channel, sharded = sharded, counted = counted }
local ticket =
  { id = id, kind = 's', lease_ms = lease_ms, listens = listens and 1 or 0, units = 1, holder = holder }
local own = confirms and keep_place(keys.queue, ticket) or format_ticket(ticket)
local served = 'nobody'
if lock.last_ticket > 0 and lock.mode ~= 'x' then
  served = serve_shared(lock, keys.queue, keys.readers, keys.reader_ids, own, claim_ms, now_us, how)
end
-- One that was told to come has left the line, and stands before all that are in it.
local is_awaited = is_free(lock) and is_called(lock.called, now_ms)
local fits = lock.mode ~= 'x' and not is_awaited and (served == 'own' or lock.last_ticket == 0)
if fits then
  if not is_called(lock.called, now_ms) then
    lock.called = '0'
  end
  local expires_at_ms = add_reader(lock, keys.readers, keys.reader_ids, ticket, lease_ms, now_us)
  if served == 'own' then
    redis.call('ZREM', keys.queue, own)
    serve_shared(lock, keys.queue, keys.readers, keys.reader_ids, '', claim_ms, now_us, how)
  end
  local token = tonumber(redis.call('HGET', keys.reader_ids, 'i' .. id))
  if ended then
    forget_reader(keys.readers, keys.reader_ids, ended)
  end
  save_lock(keys.state, lock, now_ms)
  return { 'granted', token, expires_at_ms, now_ms }
end
-- The attempt may just have been let in with those before it.
known, ends_at_ms = reading_of(lock, keys.readers, keys.reader_ids, id, now_ms)
if known then
  save_lock(keys.state, lock, now_ms)
  return { 'granted', known, ends_at_ms, now_ms }
end
local more = served == 'more' and 1 or 0
-- One who was told to come has that long to come.
local recheck_ms = is_free(lock) and claim_ms or lock.expires_at_ms - now_ms
local place = 0
if waits then
  lock.last_ticket, place = stand_in_line(keys.queue, own, lock.last_ticket)
  -- It did not take what it was offered, and asks now: it is not to be sent back for that later.
  if ended then
    forget_reader(keys.readers, keys.reader_ids, ended)
  end
end
save_lock(keys.state, lock, now_ms)
if waits then
  return { 'queued', place, place == 0 and recheck_ms or 0, more, now_ms }
end
return { 'held', recheck_ms, more }
