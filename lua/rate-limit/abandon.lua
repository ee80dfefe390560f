--[[
Ends a take whose answer its caller never got, in the slot of that take. It frees the places that the take holds. If the
take arrives later it is refused, as a call that a later one has replaced; this is remembered for at least ten minutes.
Units stay taken. Safe to repeat.

@returns abandoned
@cost    O(limits x 64 + places of concurrency limits)
]]
local caller = ARGV[1] -- text: process and slot
local call = tonumber(ARGV[2]) -- integer: number of the call in that slot
local take = tonumber(ARGV[3]) -- integer: number of the take
local limits, limits_at = ARGV, 4 -- repeated LIMITS: the limits; only concurrency limits change

local subject = try(open_subject(keys.state, caller, limits, limits_at))
local later, token = recall_token(subject.record, take)
if later then
  return { 'abandoned' }
end
local meters = read_meters(subject, limits, limits_at, clock_us())
for _, meter in ipairs(token and meters or {}) do
  free_place(meter, token)
end
-- Removes nothing. After it a server out of memory accepts the next writes; if the right to it is missing, everything
-- stays as it was.
redis.call('HDEL', keys.state, '')
save_subject(keys.state, subject, meters, call, subject.now_us, {})
keep_for(keys.state, CALL_MEMORY_US / 1000)
return { 'abandoned' }
