--[[
What waits to be brought to other queues, by its number, which rises. Whoever brings it says so with `delivered`.

@returns outbox  entries:[number:integer target:text what:bytes]
@cost    O(log n + limit)
@reads
]]
local jobs = KEYS[1] -- hash: all that is stored of each job
local outbox = KEYS[2] -- sorted set: what goes to other queues -> its number
local after = ARGV[1] -- text: number of the last one that was seen; 0: from the first
local limit = tonumber(ARGV[2]) -- integer: how many at most

local numbers = redis.call('ZRANGEBYSCORE', outbox, '(' .. after, '+inf', 'LIMIT', '0', limit)
local entries = {}
for _, number in ipairs(numbers) do
  local packed = redis.call('HGET', jobs, 'x' .. number)
  local target, what_at = struct.unpack('>Hc0', packed)
  entries[#entries + 1] = tonumber(number)
  entries[#entries + 1] = target
  entries[#entries + 1] = string.sub(packed, what_at)
end
return { 'outbox', entries }
