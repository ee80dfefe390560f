--[[
Returns entries that wait for delivery to other queues, by their rising number. They are delivered under a number that
is greater by `ahead`; the caller passes it to `delivered` afterwards. A page ends once jobs reach 4 MiB: only an empty
answer means that there are none.

@returns outbox  entries:[number:integer target:text ahead:integer what:bytes]
@cost    O(log n + limit), and 4 MiB of payloads
@reads
]]
local after = ARGV[1] -- text: number of the last one seen; 0: from the first
local limit = tonumber(ARGV[2]) -- integer: how many at most

local numbers = redis.call('ZRANGEBYSCORE', keys.outbox, '(' .. after, '+inf', 'LIMIT', '0', limit)
local entries, ahead = {}, {}
local budget = budget_of(limit)
for _, number in ipairs(numbers) do
  if is_left(budget) then
    local packed = redis.call('HGET', keys.jobs, 'x' .. number)
    local target, what_at = struct.unpack('>Hc0', packed)
    spend(budget, 1, #packed)
    entries[#entries + 1] = tonumber(number)
    entries[#entries + 1] = target
    ahead[target] = ahead[target] or ahead_of(keys.meta, target)
    entries[#entries + 1] = ahead[target]
    entries[#entries + 1] = string.sub(packed, what_at)
  end
end
return { 'outbox', entries }
