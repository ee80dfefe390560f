--[[
Grants a permit of some weight, or puts the attempt in line. No attempt passes earlier waiters, not even with a smaller
weight; free weight goes to the first of them before. Safe to repeat: an attempt that has a permit, or is in line, gets
the same answer again. `oversized`: the weight is above the limit, and the attempt has left the line. A waiter that
waited longer than a moment is offered a permit for `claim_ms`: it calls again, with `confirms`, and holds the permit
for its lease.

@returns granted    token:integer expires_at_ms:integer now_ms:integer
@returns full       retry_after_ms:integer
@returns queued     position:integer recheck_ms:integer now_ms:integer
@returns oversized  limit:integer
@cost    O(log n), at most 100 grants, and at most 1,000 removals of permits that have ended and 500 of dead
         waiters
]]
local id = ARGV[1] -- text: the attempt, '<process>.<number>'
local holder = ARGV[2] -- text: name of its holder, for people
local limit = tonumber(ARGV[3]) -- integer: most weight to grant at once, unless `resize` has set another
local weight = tonumber(ARGV[4]) -- integer: weight of the permit
local lease_ms = tonumber(ARGV[5]) -- integer: length of the lease
local channel = ARGV[6] -- text: prefix of the channels of processes
local waits = ARGV[7] == '1' -- flag: whether the attempt queues when too little is free
local listens = ARGV[8] == '1' -- flag: whether its process listens on its channel
local claim_ms = tonumber(ARGV[9] or 1000) -- integer: how long waiters have to confirm a hand-off
local sharded = ARGV[10] == '1' -- flag: whether to use sharded channels
local counted = ARGV[11] ~= '0' -- flag: whether a channel without listeners means that its process is dead
local confirms = ARGV[12] == '1' -- flag: whether it accepts an offer, for the whole lease

local semaphore = try(open_semaphore(keys.state, clock_us()))
local now_ms = semaphore.now_ms
local known, ends_at_ms = permit_of(keys, id)
if known and ends_at_ms > now_ms then
  if confirms then
    ends_at_ms = confirm_permit(keys, semaphore, known, ends_at_ms, lease_ms)
    save_freed_semaphore(keys, semaphore)
  end
  return { 'granted', tonumber(known), ends_at_ms, now_ms }
end
if known then
  end_permit(keys, semaphore, known, ends_at_ms)
end
-- What has ended stays so if a missing right stops the call.
save_changed(keys, semaphore, reap(keys, semaphore) or known)
local dirty = false
if semaphore.resized == 0 and semaphore.limit ~= limit then
  semaphore.limit = limit
  dirty = true
end

local ticket = new_ticket(id, 'x', lease_ms, listens, weight, holder)
local own = confirms and keep_place(keys, ticket) or format_ticket(ticket)
local oversized = weight > semaphore.limit
if oversized and semaphore.last_ticket > 0 then
  redis.call('ZREM', keys.queue, own)
end
local served = 'none'
-- If nothing is free, no waiter fits.
if semaphore.last_ticket > 0 and semaphore.used < semaphore.limit then
  semaphore.claim_ms = claim_ms
  semaphore.how = { channel = channel, sharded = sharded, counted = counted }
  served = serve(keys, semaphore, own)
  dirty = true
  if served == 'own' then
    -- Before the grant: where the right is missing, nothing is granted.
    redis.call('ZREM', keys.queue, own)
    local token, expires_at_ms = new_token(semaphore), now_ms + lease_ms
    add_permit(keys, semaphore, ticket, token, expires_at_ms)
    serve(keys, semaphore, '')
    save_changed(keys, semaphore, not semaphore.is_saved)
    return { 'granted', tonumber(token), expires_at_ms, now_ms }
  end
end
if oversized then
  save_changed(keys, semaphore, dirty)
  return { 'oversized', semaphore.limit }
end
if semaphore.last_ticket == 0 and fits(semaphore, weight) then
  local token, expires_at_ms = new_token(semaphore), now_ms + lease_ms
  add_permit(keys, semaphore, ticket, token, expires_at_ms)
  return { 'granted', tonumber(token), expires_at_ms, now_ms }
end
local recheck_ms = served == 'more' and 1 or next_end_in_ms(semaphore)
local place = 0
if waits then
  local newest
  newest, place = stand_in_line(keys, semaphore, own)
  dirty = dirty or newest ~= semaphore.last_ticket
  semaphore.last_ticket = newest
end
save_changed(keys, semaphore, dirty)
if waits then
  return { 'queued', place, (place == 0 or served == 'more') and recheck_ms or 0, now_ms }
end
return { 'full', recheck_ms }
