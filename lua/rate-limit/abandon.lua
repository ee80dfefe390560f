--[[
Ends a take that its caller got no answer to, in the slot of that take: frees the places that it holds, and where its bytes arrive later
they are refused, as those of a call that a later one has replaced: that is known for ten minutes at least. Units stay taken. Safe to repeat.

@returns abandoned
@cost    O(limits x 64 + places of limits of takes at work)
]]
local caller = ARGV[1] -- text: process and slot
local call = tonumber(ARGV[2]) -- integer: number of the call in that slot
local take = tonumber(ARGV[3]) -- integer: number of the take
local limits, limits_at = ARGV, 4 -- repeated LIMITS: the limits; others than those of takes at work stay as they are

local subject = try(open_subject(keys.state, caller, limits, limits_at))
local later, token = recall_token(subject.record, take)
if later then
  return { 'abandoned' }
end
local meters = read_meters(subject, limits, limits_at, clock_us())
for _, meter in ipairs(token and meters or {}) do
  free_place(meter, token)
end
-- Removes nothing. Behind it a server that is out of memory takes what is written; where the right to that is missing, all
-- stays as it was.
redis.call('HDEL', keys.state, '')
save_subject(keys.state, subject, meters, call, subject.now_us, {})
keep_for(keys.state, CALL_MEMORY_US / 1000)
return { 'abandoned' }
