--[[
Returns the lock: its leases, the first to end first, and its line. Lists at most 100 of each.

@returns inspection  mode:text token:integer now_ms:integer leases:[token:integer expires_at_ms:integer holder:text] waiting:integer line:[id:text kind:text holder:text]
@cost    O(log n + 200)
@reads
]]

local lock = try(open_lock(redis.call('GET', keys.state), clock_us()))
local now_ms = lock.now_ms
lapse(lock)
local leases = {}
if lock.mode == 'x' then
  leases = { tonumber(lock.token), lock.expires_at_ms, lock.holder }
elseif lock.mode == 's' then
  local live = redis.call('ZRANGEBYSCORE', keys.readers, '(' .. now_ms, '+inf', 'WITHSCORES', 'LIMIT', 0, 100)
  for at = 1, #live, 2 do
    local known = redis.call('HGET', keys.reader_ids, live[at])
    leases[#leases + 1] = tonumber(live[at])
    leases[#leases + 1] = tonumber(live[at + 1])
    leases[#leases + 1] = string.match(known or '', '^%S* (.*)$') or ''
  end
end
local line = {}
for _, text in ipairs(redis.call('ZRANGE', keys.queue, '0', '99')) do
  local ticket = parse_ticket(text)
  line[#line + 1] = ticket.id
  line[#line + 1] = ticket.kind
  line[#line + 1] = ticket.holder
end
return { 'inspection', lock.mode, tonumber(lock.token), now_ms, leases, redis.call('ZCARD', keys.queue), line }
