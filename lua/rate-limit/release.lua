--[[
Frees the place that a take holds in concurrency limits. Returns lost when it holds none: it has been released, or its
lease has ended.

@returns released
@returns lost
@cost    O(places of the limits)
]]
local caller = ARGV[1] -- text: process and slot; empty: the script does not remember the call
local call = tonumber(ARGV[2]) -- integer: number of the call in that slot
local token = tonumber(ARGV[3]) -- integer: token of the take
local limits, limits_at = ARGV, 4 -- repeated LIMITS: the limits; only concurrency limits change

local subject = try(open_subject(keys.state, caller, limits, limits_at))
local remembered = try(recall_token(subject.record, call))
if remembered then
  return { 'released' }
end
local server_us = clock_us()
local held = false
local meters = read_meters(subject, limits, limits_at, server_us)
for _, meter in ipairs(meters) do
  held = free_place(meter, token) or held
end
if not held then
  return { 'lost' }
end
-- Removes nothing. After it a server out of memory accepts the next writes; if the right to it is missing, everything
-- stays as it was.
redis.call('HDEL', keys.state, '')
save_subject(keys.state, subject, meters, call, subject.now_us, {})
return { 'released' }
