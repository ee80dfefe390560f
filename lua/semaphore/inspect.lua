--[[
Returns the semaphore: its permits, the first to end first, and its line. Lists at most 100 of each. `used` may include
at most 1,000 permits that have ended unnoticed.

@returns inspection  limit:integer resized:flag used:integer token:integer now_ms:integer
         permits:[token:integer expires_at_ms:integer weight:integer holder:text]
         waiting:integer line:[id:text weight:integer holder:text]
@cost    O(log n + 1,200)
@reads
]]
local limit = tonumber(ARGV[1]) -- integer: the limit to report for an unknown semaphore

local semaphore = try(open_semaphore(keys.state, clock_us()))
local now_ms = semaphore.now_ms
local ended = redis.call('ZRANGEBYSCORE', keys.permits, '-inf', now_ms, 'LIMIT', '0', MOST_REAPED)
local used = semaphore.used
for _, token in ipairs(ended) do
  used = used - parse_permit(redis.call('HGET', keys.ids, token)).weight
end
local live = redis.call('ZRANGEBYSCORE', keys.permits, '(' .. now_ms, '+inf', 'WITHSCORES', 'LIMIT', 0, 100)
local named = {}
for at = 1, #live, 2 do
  local permit = parse_permit(redis.call('HGET', keys.ids, live[at]))
  named[#named + 1] = tonumber(live[at])
  named[#named + 1] = tonumber(live[at + 1])
  named[#named + 1] = permit.weight
  named[#named + 1] = permit.holder
end
local line = {}
for _, text in ipairs(redis.call('ZRANGE', keys.queue, '0', '99')) do
  local ticket = parse_ticket(text)
  line[#line + 1] = ticket.id
  line[#line + 1] = ticket.units
  line[#line + 1] = ticket.holder
end
local known = semaphore.limit > 0 and semaphore.limit or limit
local waiting = redis.call('ZCARD', keys.queue)
return {
  'inspection',
  known,
  semaphore.resized,
  used,
  tonumber(semaphore.token),
  now_ms,
  named,
  waiting,
  line,
}
